import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// `kill -9` at any moment: what was logged is kept, and nothing is made up.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct KillTests {
  private static let kills = 100

  /// A change of status, from the log or from the history.
  private struct Change: Hashable {
    let target: String
    let sequence: Int
    let from: String
    let to: String

    init(_ json: JSON) throws {
      target = try #require(json["target"]?.text)
      sequence = Int(try #require(json["sequence"]?.number))
      from = try #require(json["from"]?.text)
      to = try #require(json["to"]?.text)
    }
  }

  @Test("a hundred kills while targets flap: no logged transition is lost, none is invented, and counters go on")
  func hundredKills() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let ports = try (0..<6).map { _ in try FlappingPort() }
      let targets = ports.enumerated().map { "  - { name: t\($0), address: 127.0.0.1, port: \($1.number) }\n" }
      let configuration =
        "state_dir: \(folder.path)/state\ndefaults: { interval: 50ms, timeout: 40ms, fall: 1 }\ntargets:\n"
        + targets.joined()
      let file = try folder.write(configuration, to: "reachd.yaml")
      let flapping = loop.spawn { await Self.flap(ports, on: loop) }

      var logged: [Change] = []
      for kill in 0..<Self.kills {
        let process = try ChildProcess(
          [Reachd.program, "run", "--config", file, "--listen", "127.0.0.1:0", "--log-format", "json"], on: loop)
        // From before it runs to after several changes.
        await loop.sleep(until: loop.now().advanced(by: .milliseconds(Int.random(in: 5...100))))
        if kill % 4 != 0 { await Self.wait(forChanges: Int.random(in: 1...8), of: process, on: loop) }
        process.send(SIGKILL)
        #expect(try await process.exitStatus() == 128 + SIGKILL, "\(process.errors)")
        let lines = Self.wholeLines(process.errors)
        #expect(lines.filter { $0["event"]?.text == "self_check" } == [], "kill \(kill)")
        logged += try lines.filter { $0["event"]?.text == "status_changed" }.map(Change.init)
      }
      flapping.cancel()
      await flapping.value

      let last = try await RunningAgent.start(configuration, on: loop)
      try await last.awaitReady()
      let metrics = try await last.client.metrics()
      let kept = try await last.client.json("/api/v1/transitions?limit=10000").elements.map(Change.init)
      #expect(try await last.stop() == 0)
      logged += try last.lines("status_changed").map(Change.init)
      print("kills: \(Self.kills), transitions logged: \(logged.count), kept: \(kept.count)")
      #expect(logged.count > Self.kills)
      #expect(Set(logged).count == logged.count, "a change was logged twice")
      #expect(Set(logged).subtracting(kept) == [], "a change was logged and not kept")
      Self.check(kept, metrics)
    }
  }

  /// The changes of each target are numbered without a gap, each begins where the one before ended, and as many are
  /// counted as there are.
  private static func check(_ kept: [Change], _ metrics: ExpositionText) {
    for (target, changes) in Dictionary(grouping: kept, by: \.target) {
      let ordered = changes.sorted { $0.sequence < $1.sequence }
      #expect(ordered.map(\.sequence) == Array(2..<(2 + ordered.count)), "\(target)")
      #expect(zip(ordered, ordered.dropFirst()).allSatisfy { $0.to == $1.from }, "\(target)")
      for status in Set(ordered.map(\.to)) {
        let counted = metrics.value("reachability_transitions_total", ["target": target, "to": status])
        #expect(counted == Double(ordered.count { $0.to == status }), "\(target) \(status)")
      }
    }
  }

  /// Waits until the process has logged so many changes, though not for ever: it may see none for a while.
  private static func wait(forChanges count: Int, of process: ChildProcess, on loop: EventLoop) async {
    let deadline = loop.now().advanced(by: .seconds(10))
    while process.errors.split(separator: "\n").count(where: { $0.contains("\"status_changed\"") }) < count,
      loop.now() < deadline
    {
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(2)))
    }
  }

  private static func flap(_ ports: [FlappingPort], on loop: EventLoop) async {
    while !Task.isCancelled {
      for port in ports where Bool.random() {
        if Bool.random() { port.open() } else { port.close() }
      }
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(Int.random(in: 5...40))))
    }
    for port in ports { port.open() }
  }

  /// A killed process may leave half a line, of which nobody can have read anything.
  private static func wholeLines(_ text: String) -> [JSON] {
    let end = text.lastIndex(of: "\n") ?? text.startIndex
    return text[..<end].split(separator: "\n").compactMap { try? JSON(parsing: String($0)) }
  }
}
