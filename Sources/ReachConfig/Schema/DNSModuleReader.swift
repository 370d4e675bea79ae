internal import ReachCore

/// Reads a module with the backend `dns`; the keys are those of blackbox_exporter's `dns` prober.
struct DNSModuleReader {
  static let keys =
    AddressingReader.keys + ["query_name", "query_type", "query_class", "transport_protocol", "recursion_desired"]
    + ["valid_rcodes", "validate_answer_rrs", "validate_authority_rrs", "validate_additional_rrs"]
    + ["dns_over_tls", "tls_config"]

  let problems: ProblemList
  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList) { self.problems = problems }

  /// The module that stands at `position`; nil when there is nothing to ask for.
  func read(_ fields: Fields, at position: TextPosition) -> DNSModule? {
    let name = fields["query_name"].flatMap { reader.value($0, "query_name", parse: Self.queryName) }
    if fields["query_name"] == nil {
      problems.error("a module with the backend 'dns' needs a 'query_name'; add what to ask for", at: position)
    }
    var module = DNSModule(queryName: name ?? "")
    module.addressing = AddressingReader(problems: problems).read(fields)
    readQuestion(fields, &module)
    if let node = fields["transport_protocol"],
      let transport: DNSModule.Transport = reader.choice(node, "transport_protocol")
    {
      module.transport = transport
    }
    if let node = fields["recursion_desired"], let wants = reader.boolean(node, "recursion_desired") {
      module.wantsRecursion = wants
    }
    if let node = fields["valid_rcodes"], let codes = codes(node) { module.validCodes = codes }
    module.answer = rules(fields, "validate_answer_rrs")
    module.authority = rules(fields, "validate_authority_rrs")
    module.additional = rules(fields, "validate_additional_rrs")
    readTLS(fields, &module)
    return name == nil ? nil : module
  }

  private func readTLS(_ fields: Fields, _ module: inout DNSModule) {
    if let node = fields["tls_config"] { module.tls = TLSClientReader(problems: problems).read(node) }
    guard let node = fields["dns_over_tls"], let usesTLS = reader.boolean(node, "dns_over_tls") else { return }
    module.usesTLS = usesTLS
    if usesTLS, module.transport == .udp {
      problems.error(
        "dns_over_tls: TLS needs 'transport_protocol: tcp'; add it", at: fields.position(of: "dns_over_tls"))
    }
  }

  /// A name with labels of any octets, within the lengths of RFC 1035 section 2.3.4; letters beyond ASCII in A-labels.
  private static func queryName(_ text: String) throws(ValueError) -> String {
    if text.isEmpty { throw ValueError("the name is empty; write what to ask for, or '.' for the root") }
    let name = text.utf8.allSatisfy { $0 < 0x80 } ? text : try IDNA.query(text)
    guard DNSName(name) != nil else {
      throw ValueError(
        "\(quoted(text)) is no name that can be asked for: each label has 1 to 63 octets, and all together 253 at most")
    }
    return name
  }

  private func readQuestion(_ fields: Fields, _ module: inout DNSModule) {
    if let node = fields["query_type"] {
      let type = reader.value(node, "query_type") { text throws(ValueError) in
        guard let type = DNSRecordType(name: text) else {
          throw Self.unknown(text, "type of record", among: DNSRecordType.allNames, such: "AAAA")
        }
        return type.number
      }
      module.queryType = type ?? module.queryType
    }
    if let node = fields["query_class"] {
      let number = reader.value(node, "query_class") { text throws(ValueError) in
        guard let number = DNSRecordClass(name: text) else {
          throw Self.unknown(text, "class", among: DNSRecordClass.allNames, such: "IN")
        }
        return number.number
      }
      module.queryClass = number ?? module.queryClass
    }
  }

  private static func unknown(_ text: String, _ what: String, among names: [String], such as: String) -> ValueError {
    let hint = closest(to: text, among: names).map { "did you mean '\($0)'?" } ?? "write one such as \(`as`)"
    return ValueError("\(quoted(text)) is no \(what); \(hint)")
  }

  private func codes(_ node: YAMLNode) -> [UInt16]? {
    guard let nodes = reader.list(node, "valid_rcodes") else { return nil }
    if nodes.isEmpty {
      return reader.refuse(
        node, "valid_rcodes", "is empty, so that no answer would be valid; write some, or remove the key")
    }
    return nodes.compactMap { node in
      reader.value(node, "valid_rcodes") { text throws(ValueError) in
        guard let code = DNSResponseCode(name: text) else {
          throw Self.unknown(text, "code of an answer", among: DNSResponseCode.allNames, such: "NOERROR")
        }
        return code.number
      }
    }
  }

  private func rules(_ fields: Fields, _ key: String) -> DNSModule.RecordRules {
    var rules = DNSModule.RecordRules()
    guard let node = fields[key] else { return rules }
    let known = [
      "fail_if_matches_regexp", "fail_if_all_match_regexp", "fail_if_not_matches_regexp", "fail_if_none_matches_regexp",
    ]
    let section = Fields(node, in: "'\(key)'", known: known, problems: problems)
    rules.failIfMatches = expressions(section, known[0])
    rules.failIfAllMatch = expressions(section, known[1])
    rules.failIfNotMatches = expressions(section, known[2])
    rules.failIfNoneMatches = expressions(section, known[3])
    return rules
  }

  private func expressions(_ fields: Fields, _ key: String) -> [RegularExpression] {
    guard let node = fields[key], let nodes = reader.list(node, key) else { return [] }
    return nodes.compactMap { reader.expression($0, key) }
  }
}
