internal import ReachProbe

/// A backend with its own defaults.
struct BackendDefaults {
  var name: String
  /// What the plugin declares; nil when it is not there.
  var declared: [ProbeOption]?
  /// The backend's options, the declared defaults filled in.
  var values: [String: OptionValue] = [:]
  var timeout: Duration?
  /// Every key that was written.
  var keys: [String] = []
  /// `values` in the form that probes share.
  var shared = OptionValues()
}

/// Reads `backends:`.
struct BackendsReader {
  let problems: ProblemList

  /// The names that are given, as far as they are names, in the order of the file.
  static func names(_ node: YAMLNode) -> [String] {
    node.entries.compactMap { $0.key.kind == .scalar && isName($0.key.text) ? $0.key.text : nil }
  }

  /// The backends; the standard ones when there is no `backends:`.
  func read(_ node: YAMLNode?, optionsOf: (String) -> [ProbeOption]?) -> [BackendDefaults] {
    guard let node, node.kind == .mapping else {
      if let node {
        problems.error(
          "'backends' takes a map, not \(node.whatItIs); write each with its options, such as 'link: {}'",
          at: node.position)
      }
      return ConfigurationDocument.standardBackends.map { make($0, nil, declared: optionsOf($0)) }
    }
    let fields = Fields(node, in: "backends", known: [], problems: problems)
    return fields.keys.compactMap { name in
      guard Self.isName(name) else {
        problems.error(
          "\(quoted(name)) is no backend's name; those are lower-case letters, digits and underscores",
          at: fields.position(of: name))
        return nil
      }
      return make(name, fields[name], declared: optionsOf(name))
    }
  }

  private func make(_ name: String, _ node: YAMLNode?, declared: [ProbeOption]?) -> BackendDefaults {
    var backend = BackendDefaults(name: name, declared: declared)
    let written = node.map { OptionReader(problems: problems).read($0, of: name, declared: declared) }
    for option in declared ?? [] where option.name != "timeout" {
      backend.values[option.name] = option.defaultValue
    }
    backend.values.merge(written?.values ?? [:]) { $1 }
    backend.timeout = written?.timeout
    backend.keys = written?.keys ?? []
    backend.shared = OptionValues(backend.values)
    return backend
  }

  /// Whether it can name a backend. It becomes part of a file's name, so it can hold nothing that leads elsewhere.
  private static func isName(_ text: String) -> Bool {
    guard let first = text.utf8.first, (97...122).contains(first), text.utf8.count <= 32 else { return false }
    return text.utf8.allSatisfy { (97...122).contains($0) || (48...57).contains($0) || $0 == 95 }
  }
}
