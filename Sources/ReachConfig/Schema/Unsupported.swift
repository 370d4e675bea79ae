/// Keys whose feature this version does not have yet: their shape is checked, so that a file stays right, and they
/// are otherwise ignored.
enum Unsupported {
  static let keys = ["targets_from"]

  static func read(_ fields: Fields, problems: ProblemList) {
    if let node = fields["targets_from"] { readSources(node, fields, problems) }
  }

  static func warn(_ key: String, _ fields: Fields, _ problems: ProblemList) {
    problems.warning("'\(key)' is not supported yet and ignored; remove it", at: fields.position(of: key))
  }

  private static func readSources(_ node: YAMLNode, _ fields: Fields, _ problems: ProblemList) {
    let reader = ValueReader(problems: problems)
    guard node.kind == .sequence else {
      problems.error("'targets_from' takes a list, not \(node.whatItIs)", at: node.position)
      return
    }
    for element in node.elements {
      let source = Fields(
        element, in: "targets_from", known: ["file", "http", "srv", "refresh"], problems: problems)
      guard source.isMap else { continue }
      let kinds = ["file", "http", "srv"].filter { source[$0] != nil }
      if kinds.count != 1 {
        problems.error("a source of targets is exactly one of file, http and srv", at: element.position)
      }
      for kind in kinds { _ = source[kind].flatMap { reader.text($0, kind) } }
      _ = source["refresh"].flatMap { reader.duration($0, "refresh") }
    }
    warn("targets_from", fields, problems)
  }
}
