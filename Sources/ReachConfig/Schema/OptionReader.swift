internal import ReachCore
internal import ReachProbe

/// Options of one backend as they were written in one place.
struct WrittenOptions {
  /// Those that the backend declares, and that are right.
  var values: [String: OptionValue] = [:]
  /// The framework's own option.
  var timeout: Duration?
  var timeoutPosition = TextPosition.start
  /// Every key that was written.
  var keys: [String] = []
}

/// Reads the options of backends, as far as their plugins declare them.
struct OptionReader {
  let problems: ProblemList
  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList) { self.problems = problems }

  /// The options of the map; with `declared` nil, only the framework's own is looked at. `besides` are keys of others.
  func read(
    _ node: YAMLNode, of backend: String, declared: [ProbeOption]?, besides: [String] = []
  ) -> WrittenOptions {
    let known = declared.map { besides + ["timeout"] + $0.map(\.name) } ?? []
    let fields = Fields(node, in: "the options of \(backend)", known: known, problems: problems)
    var written = WrittenOptions(keys: fields.keys)
    if let node = fields["timeout"] {
      written.timeout = reader.duration(node, "timeout")
      written.timeoutPosition = node.position
    }
    for option in declared ?? [] where option.name != "timeout" {
      if let node = fields[option.name] { written.values[option.name] = value(node, option) }
    }
    return written
  }

  /// The value of one option; nil when it is not as it should be, which has been noted.
  func value(_ node: YAMLNode, _ option: ProbeOption) -> OptionValue? {
    switch option.kind {
    case .string: reader.text(node, option.name).map { .string($0) }
    case .integer(let range): reader.integer(node, option.name, in: range).map { .integer($0) }
    case .boolean: reader.boolean(node, option.name).map { .boolean($0) }
    case .duration: reader.duration(node, option.name).map { .duration($0) }
    case .choice(let words): reader.word(node, option.name, among: words).map { .string($0) }
    case .endpoint: endpoint(node, option.name).map { .endpoint($0) }
    case .endpoints: endpoints(node, option.name)
    }
  }

  private func endpoints(_ node: YAMLNode, _ name: String) -> OptionValue? {
    guard let nodes = reader.list(node, name) else { return nil }
    let all = nodes.compactMap { endpoint($0, name) }
    return all.count == nodes.count ? .endpoints(all) : nil
  }

  private func endpoint(_ node: YAMLNode, _ name: String) -> OptionEndpoint? {
    reader.value(node, name) { text throws(ValueError) in
      let parts = try EndpointText(text)
      let address: IPAddress
      switch parts.host {
      case .ipv6(let host): address = try AddressText.parseTarget(text.hasPrefix("[") ? "[\(host)]" : host)
      case .other(let host):
        guard IPAddress.looksNumeric(host) else {
          throw ValueError("\(quoted(text)) is not an address; write one such as 198.51.100.53 or 198.51.100.53:53")
        }
        address = try AddressText.parseTarget(host)
      }
      return OptionEndpoint(address: address, port: parts.port)
    }
  }
}
