import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Synchronization

/// `reachd run` on a configuration of the test's own, ended with this value.
///
/// Isolation: on its event loop.
final class RunningAgent: Sendable {
  let process: ChildProcess
  let client: HTTPClient
  /// Where its configuration is.
  let folder: TestFolder
  private let loop: EventLoop
  private let readLog = Mutex(ReadLog())

  /// Starts it and waits until it answers. Without `port` the kernel chooses one; with a launcher, which is to run the
  /// words that follow its own, that sees to where it listens. `runner` is a program that runs it with limits or rights of
  /// its own, such as `prlimit --nofile=64`.
  static func start(
    _ configuration: String, port: UInt16 = 0, options: [String] = [], program: String = Reachd.program,
    launcher: [String] = [], under runner: [String] = [], overridesFormat: Bool = true, on loop: EventLoop
  ) async throws -> RunningAgent {
    let folder = try TestFolder()
    let file = try folder.write(configuration, to: "reachd.yaml")
    let listen = launcher.isEmpty ? ["--listen", "127.0.0.1:\(port)"] : []
    let process = try ChildProcess(
      launcher + runner + [program, "run", "--config", file] + (overridesFormat ? ["--log-format", "json"] : [])
        + listen + options, on: loop)
    let chosen = try await eventually(
      "the agent's start", on: loop, state: { process.failure("").description },
      {
        guard process.isRunning else { throw process.failure("ended") }
        let lines = process.errors.split(separator: "\n").compactMap { try? JSON(parsing: String($0)) }
        return lines.first { $0["event"]?.text == "agent_started" }.flatMap(listeningPort)
      })
    return RunningAgent(
      process: process, client: HTTPClient(address: .loopback, port: chosen, loop: loop), folder: folder, loop: loop)
  }

  private init(process: ChildProcess, client: HTTPClient, folder: TestFolder, loop: EventLoop) {
    self.process = process
    self.client = client
    self.folder = folder
    self.loop = loop
  }

  // MARK: Configuration

  /// Its configuration file.
  var file: String { folder.path + "/reachd.yaml" }

  /// Writes another configuration and has it read again by a request. Returns the answer.
  func reload(_ configuration: String) async throws -> HTTPAnswer {
    try folder.write(configuration, to: "reachd.yaml")
    return try await client.get("/-/reload", method: "POST")
  }

  // MARK: Log

  /// All that it has logged. A line that is no JSON, or not yet whole, is left out here: see `brokenLogLines`.
  var log: [JSON] { readOn().lines }

  /// Lines that are whole and yet no JSON.
  var brokenLogLines: [String] { readOn().broken }

  /// The log as far as it has been read: each line is read once, however often a test looks.
  private struct ReadLog {
    var offset = 0
    var lines: [JSON] = []
    var broken: [String] = []
  }

  private func readOn() -> ReadLog {
    let bytes = Array(process.errors.utf8)
    return readLog.withLock { read in
      let end = bytes.lastIndex(of: UInt8(ascii: "\n")) ?? 0
      guard end > read.offset else { return read }
      for line in bytes[read.offset..<end].split(separator: UInt8(ascii: "\n")) {
        let text = String(decoding: line, as: UTF8.self)
        if let json = try? JSON(parsing: text) { read.lines.append(json) } else { read.broken.append(text) }
      }
      read.offset = end
      return read
    }
  }

  /// The log lines of an event, about a target or about any.
  func lines(_ event: String, target: String? = nil) -> [JSON] {
    log.filter { $0["event"]?.text == event && (target == nil || $0["target"]?.text == target) }
  }

  /// Waits for a log line of that event.
  func awaitLine(
    _ event: String, target: String? = nil, where condition: (JSON) -> Bool = { _ in true }
  ) async throws -> JSON {
    try await eventually("\(event) of \(target ?? "the agent")", on: loop, state: { process.errors }) {
      lines(event, target: target).first(where: condition)
    }
  }

  /// The port in `http://127.0.0.1:10120/`, which the message of agent_started names.
  private static func listeningPort(_ line: JSON) -> UInt16? {
    let words = line["message"]?.text?.split { !$0.isNumber && $0 != "." && $0 != ":" } ?? []
    return words.last { $0.hasPrefix("127.0.0.1:") || $0.hasPrefix("://127.0.0.1:") }
      .flatMap { $0.split(separator: ":").last }.flatMap { UInt16($0) }
  }

  // MARK: State

  /// Waits until every target has had its first round.
  func awaitReady() async throws {
    _ = try await eventually("readiness", on: loop, state: { process.errors }) {
      try await client.get("/-/ready").status == 200 ? true : nil
    }
  }

  /// What the API says of a target.
  func target(_ name: String) async throws -> JSON? {
    try await client.json("/api/v1/targets").elements.first { $0["target"]?.text == name }
  }

  /// Waits until a target has that status, and returns what the API says of it.
  func awaitStatus(_ status: String, of name: String) async throws -> JSON {
    try await eventually("\(name) to be \(status)", on: loop, state: { process.errors }) {
      let target = try await target(name)
      return target?["status"]?.text == status ? target : nil
    }
  }

  /// Ends it as systemd would and returns its exit status.
  func stop() async throws -> Int32 {
    process.send(SIGTERM)
    return try await process.exitStatus()
  }
}
