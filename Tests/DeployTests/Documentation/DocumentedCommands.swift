import Glibc
import ReachTestSupport

/// The pages whose commands are checked, and the table of those that suites of their own run.
enum DocumentedCommands {
  /// Commands that are run elsewhere.
  struct Entry: Sendable {
    /// A pattern of the page's path (fnmatch).
    let page: String
    /// The command; a trailing `*` stands for any end.
    let command: String
    /// The suite that runs it in its own way, such as `EndToEndTests.InstallTests`.
    let suite: String

    /// The command without what stands for any end.
    var words: String {
      String(command.reversed().drop { $0 == "*" || $0 == " " }.reversed())
    }

    func fits(_ command: DocumentedPage.Command) -> Bool {
      guard unsafe fnmatch(page, command.page, 0) == 0 else { return false }
      return self.command.hasSuffix("*")
        ? command.text.hasPrefix(self.command.dropLast()) : command.text == self.command
    }
  }

  /// Every page, by its path, in order.
  static func pages() throws -> [DocumentedPage] {
    let roots = ["README.md", "CONTRIBUTING.md"]
    var files: [String] = []
    for folder in ["docs", "deploy", "Plugins", "Examples", "etc"] {
      files += ((try? Repository.files(in: folder)) ?? []).filter { $0.hasSuffix(".md") && !$0.contains("/.build/") }
    }
    return try (roots + files).map(DocumentedPage.init)
  }

  /// The table, commands.tsv.
  static func table() throws -> [Entry] {
    try Repository.text("Tests/DeployTests/Documentation/commands.tsv").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { line in
        let fields = line.split(separator: "\t").map(String.init)
        guard fields.count == 3 else { throw ProgramFailureText("commands.tsv: not three fields: \(line)") }
        return Entry(page: fields[0], command: fields[1], suite: fields[2])
      }
  }

  struct ProgramFailureText: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
  }
}
