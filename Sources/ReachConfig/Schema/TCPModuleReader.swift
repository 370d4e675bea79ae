internal import ReachCore

/// Reads a module with the backend `tcp`; the keys are those of blackbox_exporter's `tcp` prober.
struct TCPModuleReader {
  static let keys = AddressingReader.keys + ["query_response", "tls", "tls_config"]

  let problems: ProblemList
  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList) { self.problems = problems }

  func read(_ fields: Fields) -> TCPModule {
    var module = TCPModule()
    module.addressing = AddressingReader(problems: problems).read(fields)
    if let node = fields["tls"], let usesTLS = reader.boolean(node, "tls") { module.usesTLS = usesTLS }
    if let node = fields["tls_config"] { module.tls = TLSClientReader(problems: problems).read(node) }
    if let node = fields["query_response"] { module.exchange = steps(node) }
    return module
  }

  private func steps(_ node: YAMLNode) -> [ExchangeStep] {
    guard node.kind == .sequence else {
      if !node.isEmpty {
        problems.error(
          "'query_response' takes a list, not \(node.whatItIs); write each step behind a dash, such as '- send: QUIT'",
          at: node.position)
      }
      return []
    }
    return node.elements.map(step)
  }

  private func step(_ node: YAMLNode) -> ExchangeStep {
    let known = ["expect", "expect_bytes", "labels", "send", "starttls"]
    let fields = Fields(node, in: "a step of 'query_response'", known: known, problems: problems)
    var step = ExchangeStep()
    if let node = fields["expect"], !Self.isEmptyText(node) { step.expect = reader.expression(node, "expect") }
    if let node = fields["expect_bytes"], let octets = reader.octets(node, "expect_bytes") { step.expectBytes = octets }
    if let node = fields["send"], let octets = reader.octets(node, "send") { step.send = octets }
    if let node = fields["starttls"], let starts = reader.boolean(node, "starttls") { step.startsTLS = starts }
    if let node = fields["labels"] {
      step.labels = labels(node)
      if fields["expect"] == nil {
        problems.error(
          "labels: there is no 'expect' in this step whose match could fill them; add it",
          at: fields.position(of: "labels"))
      }
    }
    return step
  }

  private static func isEmptyText(_ node: YAMLNode) -> Bool {
    node.kind == .scalar && node.text.isEmpty && !node.isPlain
  }

  private func labels(_ node: YAMLNode) -> [ExchangeStep.Label] {
    guard node.kind == .sequence else {
      problems.error(
        "'labels' takes a list, not \(node.whatItIs); write each as '- { name: version, value: \"${1}\" }'",
        at: node.position)
      return []
    }
    var labels: [ExchangeStep.Label] = []
    for element in node.elements {
      let fields = Fields(element, in: "a label", known: ["name", "value"], problems: problems)
      guard let nameNode = fields["name"], let name = reader.text(nameNode, "name") else {
        if fields.isMap, fields["name"] == nil { problems.error("a label has no 'name'; add it", at: element.position) }
        continue
      }
      if let problem = Self.problem(name, labels) {
        problems.error("name: \(problem)", at: nameNode.position)
        continue
      }
      let value = fields["value"].map { reader.text($0, "value") } ?? ""
      labels.append(ExchangeStep.Label(name: name, value: value ?? ""))
    }
    return labels
  }

  private static func problem(_ name: String, _ labels: [ExchangeStep.Label]) -> String? {
    if !LabelsReader.isName(name) || name.hasPrefix("__") {
      return "\(quoted(name)) is no label's name; write letters, digits and underscores, and no digit first"
    }
    return labels.contains { $0.name == name } ? "the label \(quoted(name)) is there twice; remove one" : nil
  }
}

/// Reads what says which address is probed, and from where.
struct AddressingReader {
  static let keys = ["preferred_ip_protocol", "ip_protocol_fallback", "source_ip_address"]

  let problems: ProblemList

  func read(_ fields: Fields) -> ModuleAddressing {
    let reader = ValueReader(problems: problems)
    var addressing = ModuleAddressing()
    if let node = fields["preferred_ip_protocol"],
      let word = reader.word(node, "preferred_ip_protocol", among: ["ip4", "ip6"])
    {
      addressing.preferred = word == "ip4" ? .ipv4 : .ipv6
    }
    if let node = fields["ip_protocol_fallback"], let falls = reader.boolean(node, "ip_protocol_fallback") {
      addressing.allowsOtherFamily = falls
    }
    if let node = fields["source_ip_address"] {
      addressing.source = reader.value(node, "source_ip_address") { text throws(ValueError) in
        try AddressText.parseTarget(text)
      }
    }
    return addressing
  }
}

/// Reads `tls_config`.
struct TLSClientReader {
  static let keys = [
    "ca_file", "cert_file", "key_file", "server_name", "insecure_skip_verify", "min_version", "max_version",
  ]

  let problems: ProblemList

  func read(_ node: YAMLNode) -> TLSClientSettings {
    let reader = ValueReader(problems: problems)
    let fields = Fields(node, in: "'tls_config'", known: Self.keys, problems: problems)
    var settings = TLSClientSettings()
    settings.authorityFile = fields["ca_file"].flatMap { reader.path($0, "ca_file") }
    settings.certificateFile = fields["cert_file"].flatMap { reader.path($0, "cert_file") }
    settings.keyFile = fields["key_file"].flatMap { reader.path($0, "key_file") }
    settings.serverName = fields["server_name"].flatMap { reader.text($0, "server_name") }
    if let node = fields["insecure_skip_verify"], let skips = reader.boolean(node, "insecure_skip_verify") {
      settings.skipsVerification = skips
    }
    settings.oldest = fields["min_version"].flatMap { reader.choice($0, "min_version") }
    settings.newest = fields["max_version"].flatMap { reader.choice($0, "max_version") }
    if let oldest = settings.oldest, let newest = settings.newest, oldest.rawValue > newest.rawValue {
      problems.error("min_version: it is above the max_version; lower it", at: fields.position(of: "min_version"))
    }
    for (one, other) in [("cert_file", "key_file"), ("key_file", "cert_file")]
    where fields[one] != nil && fields[other] == nil {
      problems.error("\(one): '\(other)' is missing beside it; add it", at: fields.position(of: one))
    }
    return settings
  }
}

extension ValueReader {
  /// A regular expression.
  func expression(_ node: YAMLNode, _ key: String) -> RegularExpression? {
    value(node, key) { text throws(ValueError) in try RegularExpression(text) }
  }

  /// An absolute path.
  func path(_ node: YAMLNode, _ key: String) -> String? {
    value(node, key) { text throws(ValueError) in
      guard text.hasPrefix("/") else { throw ValueError("\(quoted(text)) is not an absolute path; begin it with /") }
      return text
    }
  }
}
