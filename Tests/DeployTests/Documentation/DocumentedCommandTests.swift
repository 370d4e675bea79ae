import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Every command that a page tells its readers to type is run: here, page by page, or by the suite that commands.tsv
/// names.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct DocumentedCommandTests {
  @Test("the table of commands that are run elsewhere names commands that pages have, and suites that exist")
  func table() throws {
    let commands = try DocumentedCommands.pages().flatMap(\.commands)
    try #require(commands.count > 5)
    for entry in try DocumentedCommands.table() {
      #expect(commands.contains(where: entry.fits), "no page \(entry.page) has the command: \(entry.command)")
      if entry.suite.hasPrefix(".ci/") {
        // A script that is the command, or has it.
        let isThere = try entry.suite == entry.words || Repository.text(entry.suite).contains(entry.words)
        #expect(isThere, "\(entry.suite) does not run: \(entry.words)")
        continue
      }
      let parts = entry.suite.split(separator: ".")
      try #require(parts.count == 2, "\(entry.suite)")
      let texts = try Repository.files(in: "Tests/\(parts[0])").filter { $0.hasSuffix(".swift") }
        .map(Repository.text)
      #expect(texts.contains { $0.contains("struct \(parts[1])") }, "there is no suite \(entry.suite)")
    }
  }

  @Test("hints stand before blocks, and can be understood")
  func hints() throws {
    for page in try DocumentedCommands.pages() { #expect(page.strayHints == []) }
  }

  @Test(
    "the commands of a page do what the page says",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
    .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"), arguments: try pagesToRun())
  func page(_ path: String) async throws {
    let page = try DocumentedPage(path)
    let table = try DocumentedCommands.table()
    let problems = try await withNetworkNamespace { loop, network -> [String] in
      let stage = try await DocumentStage(network, on: loop)
      var problems: [String] = []
      for step in page.steps {
        switch step {
        case .save(let text, let file): try await stage.save(text, to: file)
        case .copy(let source, let file): try await stage.save(try Repository.text(source), to: file)
        case .commands(let block): problems += try await Self.run(block, besides: table, on: stage)
        }
      }
      return problems
    }
    for problem in problems { Issue.record("\(problem)") }
  }

  /// The pages with a command that no suite of its own runs.
  private static func pagesToRun() throws -> [String] {
    let table = try DocumentedCommands.table()
    return try DocumentedCommands.pages().filter { page in
      page.commands.contains { command in !table.contains { $0.fits(command) } }
        && (ExamplePlugin.isAvailable || !page.stages.contains("example-plugin"))
    }.map(\.path)
  }

  private static func run(
    _ block: DocumentedPage.Block, besides table: [DocumentedCommands.Entry], on stage: DocumentStage
  ) async throws -> [String] {
    let commands = block.commands.filter { command in !table.contains { $0.fits(command) } }
    if commands.isEmpty { return [] }
    if let name = block.stage { try await stage.apply(name) }
    var problems: [String] = []
    for command in commands {
      if let word = reachesOut(command.text) {
        problems.append("\(command.place): '\(word)' is for a machine of its own: name a suite in commands.tsv")
        continue
      }
      if block.keepsRunning {
        try stage.keepRunning(command.text)
        continue
      }
      let ended = try await stage.type(command.text)
      let isLast = command.line == block.commands.last?.line
      if ended.status != (isLast ? block.status : 0) {
        problems.append("\(command.place): \(command.text)\nexit status \(ended.status)\n\(ended.output.suffix(2000))")
      } else if let shown = command.output, !ShownOutput(shown).fits(ended.output) {
        problems.append(
          "\(command.place): \(command.text)\nprints\n\(ended.output.suffix(4000))\nand not\n"
            + shown.joined(separator: "\n"))
      }
    }
    return problems
  }

  /// The word by which a command reaches processes or services of the machine that runs the test.
  private static func reachesOut(_ command: String) -> String? {
    let words = command.split { !$0.isLetter && $0 != "-" }.map(String.init)
    let others = [
      "pkill", "killall", "kill", "pidof", "pgrep", "systemctl", "apt", "apt-get", "dpkg", "reboot", "sudo",
    ]
    return others.first(where: words.contains)
  }
}
