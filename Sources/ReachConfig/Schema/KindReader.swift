internal import ReachCore

/// Reads what a target is: the one of its keys that says so.
struct KindReader {
  static let keys = ["host", "address", "pair", "default", "link_local", "interface"]

  let problems: ProblemList
  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList) { self.problems = problems }

  /// The kind, and whether it is a name that ends in a dot; nil when it cannot be told, which has been noted.
  func read(_ fields: Fields) -> (kind: Target.Kind, isAbsolute: Bool)? {
    let given = fields.keys.filter(Self.keys.contains)
    guard let key = given.first, let node = fields[key] else {
      problems.error(
        "the target does not say what it is; write one of \(Self.keys.joined(separator: ", "))", at: fields.position)
      return nil
    }
    for other in given.dropFirst() {
      problems.error(
        "the target has both '\(key)' and '\(other)'; keep one of them", at: fields.position(of: other))
    }
    switch key {
    case "host": return host(node)
    case "address": return address(node, key).map { (.address($0), false) }
    case "pair": return pair(node).map { ($0, false) }
    case "default": return isDefault(node) ? (.defaultPath, false) : nil
    case "link_local": return interface(node, key).map { (.linkLocal(interface: $0), false) }
    default: return interface(node, key).map { (.interface($0), false) }
    }
  }

  private func host(_ node: YAMLNode) -> (kind: Target.Kind, isAbsolute: Bool)? {
    reader.value(node, "host") { text throws(ValueError) in
      if text.contains(":") || IPAddress.looksNumeric(text), let address = try? AddressText.parse(text) {
        throw ValueError("\(quoted(text)) is an address; write 'address: \(address)'")
      }
      if !text.hasScheme, let colon = text.firstIndex(of: ":") {
        let port = text[text.index(after: colon)...]
        if !port.isEmpty, port.utf8.allSatisfy({ (48...57).contains($0) }) {
          throw ValueError("\(quoted(text)) has a port; write it under 'port:'")
        }
      }
      return (.host(try HostName(parsing: text)), text.hasSuffix("."))
    }
  }

  private func address(_ node: YAMLNode, _ key: String) -> IPAddress? {
    guard let text = addressText(node, key) else { return nil }
    do throws(ValueError) {
      return try Self.address(text)
    } catch {
      return reader.refuse(node, key, error.description, colon: true)
    }
  }

  /// The text of an address. An IPv6 address of digits alone looks like a number in base 60 and is none.
  private func addressText(_ node: YAMLNode, _ key: String) -> String? {
    if node.isPlain, (try? IPAddress(parsing: node.text)) != nil { return node.text }
    return reader.text(node, key)
  }

  private static func address(_ text: String) throws(ValueError) -> IPAddress {
    do throws(ValueError) {
      return try AddressText.parseTarget(text)
    } catch {
      if let endpoint = try? EndpointText(text), endpoint.port != nil {
        throw ValueError("\(quoted(text)) has a port; write it under 'port:'")
      }
      if !IPAddress.looksNumeric(text), !text.hasScheme, (try? HostName(parsing: text)) != nil {
        throw ValueError("\(quoted(text)) is a name; write 'host: \(text)'")
      }
      throw error
    }
  }

  private func pair(_ node: YAMLNode) -> Target.Kind? {
    let fields = Fields(node, in: "pair", known: ["local", "remote"], problems: problems)
    guard fields.isMap || node.isEmpty else { return nil }
    for key in ["local", "remote"] where fields[key] == nil {
      problems.error("the pair has no '\(key)' address; write one", at: fields.position)
    }
    let local = fields["local"].flatMap { address($0, "local") }
    let remote = fields["remote"].flatMap { address($0, "remote") }
    guard let local, let remote else { return nil }
    guard local.family == remote.family else {
      problems.error(
        "the pair's \(local) and \(remote) are of different families; write two of the same", at: fields.position)
      return nil
    }
    return .pair(local: local, remote: remote)
  }

  private func isDefault(_ node: YAMLNode) -> Bool {
    if node.isEmpty { return true }
    guard let isDefault = reader.boolean(node, "default") else { return false }
    if !isDefault { problems.error("default: write true, or remove the key", at: node.position) }
    return isDefault
  }

  private func interface(_ node: YAMLNode, _ key: String) -> String? {
    reader.value(node, key) { text throws(ValueError) in
      try InterfaceName.check(text)
      return text
    }
  }
}
