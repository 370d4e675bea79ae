internal import ReachCore

/// Reads a target's `labels:`.
struct LabelsReader {
  /// The labels that the agent's own metrics have; two of one name would break the whole exposition.
  static let reserved: Set<String> = [
    "target", "status", "flag", "layer", "reason", "interface", "medium", "gateway", "source", "address", "to", "probe",
    "outcome", "family", "state", "cause", "operstate", "version", "revision", "swift", "plugin", "type", "path",
    "code", "le", "quantile",
  ]

  let problems: ProblemList
  /// How many labels a target may have.
  let limit: Int

  /// The labels in the order of their names.
  func read(_ node: YAMLNode) -> [Label] {
    let reader = ValueReader(problems: problems)
    let fields = Fields(node, in: "labels", known: [], problems: problems)
    var labels: [Label] = []
    for name in fields.keys {
      if let problem = Self.problem(name) {
        problems.error("labels: \(problem)", at: fields.position(of: name))
      } else if let value = fields[name].flatMap({ reader.text($0, name) }) {
        labels.append(Label(name: name, value: value))
      }
    }
    if labels.count > limit {
      problems.error(
        "labels: there are \(labels.count), and \(limit) are allowed; remove some, or raise 'max_labels' under "
          + "'metrics'", at: node.position)
    }
    return labels.sorted { $0.name.utf8.lexicographicallyPrecedes($1.name.utf8) }
  }

  /// Whether Prometheus takes it for the name of a label.
  static func isName(_ name: String) -> Bool {
    name.utf8.first.map { !(48...57).contains($0) } ?? false
      && name.utf8.allSatisfy {
        (97...122).contains($0) || (65...90).contains($0) || (48...57).contains($0) || $0 == UInt8(ascii: "_")
      }
  }

  /// What keeps a label from having this name; nil when nothing does.
  static func problem(_ name: String) -> String? {
    if !isName(name) {
      return "\(quoted(name)) is no label's name; write letters, digits and underscores, and no digit first"
    }
    if name.hasPrefix("__") {
      return "\(quoted(name)) begins with two underscores, which Prometheus keeps for itself; rename it"
    }
    if reserved.contains(name) {
      return "\(quoted(name)) is the name of a label of reachd's own metrics; rename it"
    }
    return nil
  }
}
