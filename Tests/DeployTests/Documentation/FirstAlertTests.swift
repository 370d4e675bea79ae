import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// `docs/first-alert.md` as somebody follows it: its own commands, files and texts, with the durations of Prometheus and
/// Alertmanager made shorter. What it installs and restarts is there already.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(
    if: Prometheus.isAvailable && Alertmanager.isAvailable,
    "needs Debian's packages prometheus and prometheus-alertmanager"), .timeLimit(.minutes(5)))
struct FirstAlertTests {
  @Test("whoever follows the page is paged with the words that it shows, and told of the end")
  func page() async throws {
    let page = Page("docs/first-alert.md", text: try Repository.text("docs/first-alert.md"))
    let configuration = try Self.block("yaml", of: page)
    let program = try Self.block("python", of: page)
    let fired = try Self.block("text", of: page)
    let mended = try Self.block("text", 1, of: page)
    let commands = page.blocks.filter { $0.language == "console" }.flatMap { $0.text.split(separator: "\n") }
      .filter { $0.hasPrefix("# ip ") }.map { String($0.dropFirst(2)) }
    let cut = try #require(commands.firstIndex { $0.hasSuffix(" down") })
    try #require(commands.indices.contains(cut + 2), "after the cut it is mended, and then cleaned up")

    try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      for command in commands[..<cut] { try Self.run(command) }
      let agent = try await RunningAgent.start(configuration, port: 10120, on: loop)
      try await agent.awaitReady()
      let targets = ["cable", "198.51.100.2", "198.51.100.3"]
      #expect(try await Reachd.probe(targets, config: agent.file, on: loop).status == 0)

      let receiver = try await Self.receiver(program, in: agent.folder, on: loop)
      let pager = try await Pager.start(
        edit: { text, _ in text.replacing("127.0.0.1:9095", with: "localhost:9095") }, on: loop)

      try Self.run(commands[cut])
      try await Self.awaitOutput(fired, of: receiver, on: loop)
      try Self.run(commands[cut + 1])
      try await Self.awaitOutput(fired + mended, of: receiver, on: loop)
      try await pager.expectOnly([])
      #expect(receiver.output == fired + mended, "there was one page and its end, and no more")
      for command in commands[(cut + 2)...] { try Self.run(command) }
      #expect(try await agent.stop() == 0)
    }
  }

  private static func block(_ language: String, _ index: Int = 0, of page: Page) throws -> String {
    let blocks = page.blocks.filter { $0.language == language }
    return try #require(blocks.indices.contains(index) ? blocks[index].text : nil, "no block \(language) \(index)")
  }

  private static func run(_ command: String) throws {
    let result = try runProgram(["sh", "-c", command])
    #expect(result.isSuccess, "\(command): \(result.output)")
  }

  /// What the page has somebody save as page.py, listening.
  private static func receiver(
    _ program: String, in folder: TestFolder, on loop: EventLoop
  ) async throws -> ChildProcess {
    let process = try ChildProcess(["python3", try folder.write(program, to: "page.py")], on: loop)
    try await eventually("page.py", on: loop, state: { process.errors }) {
      guard process.isRunning else { throw process.failure("ended") }
      return try runProgram(["ss", "-Hltn", "sport = 9095"]).output.isEmpty ? nil : ()
    }
    return process
  }

  private static func awaitOutput(_ text: String, of process: ChildProcess, on loop: EventLoop) async throws {
    try await eventually(
      "the output of page.py", on: loop, within: .seconds(120), state: { process.output + process.errors },
      { process.output == text ? () : nil })
  }
}
