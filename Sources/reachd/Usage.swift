/// The texts of `--help`.
enum Usage {
  /// The usage of a command, or of the program.
  static func text(for command: String?) -> String {
    guard let spec = CommandSpec.all.first(where: { $0.name == command }) else { return program }
    var text = line(for: spec) + "\n\n" + spec.summary.capitalizedFirst + ".\n"
    if !spec.options.isEmpty {
      let rows = spec.options.map { ($0.flag + ($0.value.map { " " + $0 } ?? ""), $0.summary) }
      text += "\nOptions:\n" + table(rows)
    }
    let exits = spec.exits.map { "\($0.status) \($0.meaning)" }.joined(separator: ", ")
    return text + "\n" + (spec.details.isEmpty ? "" : spec.details + "\n") + "Exit status: " + exits + ".\n"
  }

  private static var program: String {
    "usage: reachd COMMAND [OPTION...]\n\nTells whether this host can reach what it depends on, and which layer broke.\n"
      + "\nCommands:\n" + table(CommandSpec.all.map { ($0.name, $0.summary) })
      + "\nreachd COMMAND --help explains one command; reachd --version prints the version.\n"
  }

  private static func line(for spec: CommandSpec) -> String {
    var text = "usage: reachd \(spec.name)"
    for option in spec.options {
      text += " [" + option.flag + (option.value.map { " " + $0 } ?? "") + "]" + (option.isRepeatable ? "..." : "")
    }
    return text + (spec.arguments.map { " " + $0 } ?? "")
  }

  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    return rows.map { "  " + $0.0 + String(repeating: " ", count: width - $0.0.count + 2) + $0.1 + "\n" }.joined()
  }
}

extension String {
  fileprivate var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
