import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Targets that are found while the agent runs.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct DiscoveryTests {
  private static let configuration = """
    targets_from:
      - file: 't/*.json'
        labels: { site: fra1 }
        defaults: { interval: 50ms, timeout: 40ms, fall: 1 }
    """

  private static func list(_ targets: String..., labels: String = "") -> String {
    let texts = targets.map { "\"\($0)\"" }.joined(separator: ", ")
    return "[{ \"targets\": [\(texts)], \"labels\": { \(labels) } }]"
  }

  private static func names(_ agent: RunningAgent) async throws -> [String] {
    try await agent.client.json("/api/v1/targets").elements.compactMap { $0["target"]?.text }
  }

  private static func awaitNames(_ names: [String], of agent: RunningAgent, on loop: EventLoop) async throws {
    _ = try await eventually("\(names)", on: loop, state: { agent.process.errors }) {
      try await Self.names(agent) == names ? true : nil
    }
  }

  private static func makeFolder(_ agent: RunningAgent) throws {
    if unsafe mkdir(agent.folder.path + "/t", 0o755) != 0 { throw SystemError.current("mkdir") }
  }

  @Test(
    "targets of a file are watched with its labels, others beside them leave them as they are, and go with the file")
  func files() async throws {
    try await withEventLoop { loop in
      let port = try TestPort(.open)
      let agent = try await RunningAgent.start(Self.configuration, on: loop)
      #expect(try await Self.names(agent) == [])
      try Self.makeFolder(agent)
      let kept = "127.0.0.1:\(port.number)"
      try agent.folder.write(Self.list(kept, labels: "\"team\": \"a\", \"__meta_x\": \"y\""), to: "t/a.json")
      _ = try await agent.awaitLine("status_initial", target: kept) { $0["to"]?.text == "ReachableViaWiFi" }
      let labels = ["target": kept, "site": "fra1", "team": "a"]
      let before = try await agent.client.metrics()
      let since = try #require(before.value("reachability_status_timestamp_seconds", labels))
      #expect(before.value("reachd_discovery_targets", ["source": "t/*.json"]) == 1)
      #expect(before.value("reachd_discovery_failures_total", ["source": "t/*.json"]) == 0)
      #expect(before.value("reachd_targets") == 1)
      try agent.folder.write(Self.list("127.0.0.2", "127.1"), to: "t/b.json")
      try await Self.awaitNames([kept, "127.0.0.2"], of: agent, on: loop)
      let ignored = try await agent.awaitLine("discovery_ignored") { $0["entry"]?.number != nil }
      #expect(ignored["entry"]?.number == 1 && ignored["file"]?.text == agent.folder.path + "/t/b.json")
      try agent.folder.write("{", to: "t/b.json")
      _ = try await agent.awaitLine("discovery_failed")
      try await Self.awaitNames([kept, "127.0.0.2"], of: agent, on: loop)
      #expect(unsafe unlink(agent.folder.path + "/t/b.json") == 0)
      try await Self.awaitNames([kept], of: agent, on: loop)
      let after = try await agent.client.metrics()
      #expect(!after.samples.contains { $0.labels["target"] == "127.0.0.2" })
      #expect(after.value("reachability_status_timestamp_seconds", labels) == since)
      #expect(agent.lines("status_initial", target: kept).count == 1)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a reload takes sources away and brings others, and a target that is declared then is no other one")
  func reload() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { query in
        .reply(
          query.answer([
            Wire.Record(
              owner: Wire.questionName, type: 33, ttl: 60,
              data: Wire.word(0) + Wire.word(0) + Wire.word(9) + Wire.name("localhost"))
          ]))
      }
      let agent = try await RunningAgent.start(Self.configuration, on: loop)
      try Self.makeFolder(agent)
      try agent.folder.write(Self.list("127.0.0.1", "127.0.0.2"), to: "t/a.json")
      try await Self.awaitNames(["127.0.0.1", "127.0.0.2"], of: agent, on: loop)
      _ = try await agent.awaitLine("status_initial", target: "127.0.0.2")
      var answer = try await agent.reload(
        Self.configuration
          + "\n  - { srv: _x._tcp.example, server: '127.0.0.1:\(server.port)' }\ntargets: [127.0.0.2]\n")
      #expect(answer.status == 200, "\(answer.body)")
      try await Self.awaitNames(["127.0.0.2", "127.0.0.1", "localhost:9"], of: agent, on: loop)
      #expect(try await agent.client.metrics().value("reachd_discovery_targets", ["source": "_x._tcp.example"]) == 1)
      // Back to the source, with all that is known of it.
      answer = try await agent.reload(Self.configuration)
      #expect(answer.status == 200, "\(answer.body)")
      try await Self.awaitNames(["127.0.0.1", "127.0.0.2"], of: agent, on: loop)
      #expect(agent.lines("status_initial", target: "127.0.0.2").count == 1)
      answer = try await agent.reload("targets: [127.0.0.2]\n")
      #expect(answer.status == 200, "\(answer.body)")
      try await Self.awaitNames(["127.0.0.2"], of: agent, on: loop)
      #expect(!(try await agent.client.metrics().samples.contains { $0.name.hasPrefix("reachd_discovery") }))
      #expect(try await agent.stop() == 0)
      server.stop()
    }
  }

  @Test("three hundred changes leave descriptors where they were, and the newest list is watched")
  func many() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start(Self.configuration, on: loop)
      try Self.makeFolder(agent)
      try agent.folder.write(Self.list("127.0.0.1"), to: "t/a.json")
      try await Self.awaitNames(["127.0.0.1"], of: agent, on: loop)
      let before = try await agent.client.metrics().value("process_open_fds")
      for number in 2..<302 { try agent.folder.write(Self.list("127.0.1.\(number % 200 + 1)"), to: "t/a.json") }
      try await Self.awaitNames(["127.0.1.102"], of: agent, on: loop)
      let after = try await agent.client.metrics().value("process_open_fds")
      #expect(try #require(after) <= #require(before) + 1)
      #expect(try await agent.stop() == 0)
    }
  }
}
