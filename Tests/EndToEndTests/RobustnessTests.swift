import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Odd names, many targets, a link that comes and goes.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct RobustnessTests {
  private static let names = ["a \"quoted\" \\ name", "two\nlines", "☃ émoji 🛰️", "<b>&amp;</b>", "tab\there"]

  @Test("odd names appear as they are in metrics, JSON and the log, and escaped on the page")
  func oddNames() async throws {
    try await withEventLoop { loop in
      let targets = Self.names.map { "  - { name: \(Self.quoted($0)), address: 127.0.0.1 }\n" }
      let agent = try await RunningAgent.start("targets:\n" + targets.joined(), on: loop)
      try await agent.awaitReady()
      let text = try await agent.client.get("/metrics").body
      let metrics = try ExpositionText(parsing: text)
      for name in Self.names { #expect(metrics.statuses(of: name) == ["ReachableViaWiFi"]) }
      if Prometheus.isAvailable {
        let verdict = try runProgram(["promtool", "check", "metrics"], input: text)
        #expect(verdict.isSuccess, "\(verdict.output)")
      }
      let listed = try await agent.client.json("/api/v1/targets").elements.compactMap { $0["target"]?.text }
      #expect(listed == Self.names)
      #expect(agent.brokenLogLines == [])
      #expect(agent.lines("status_initial").compactMap { $0["target"]?.text }.sorted() == Self.names.sorted())
      let page = try await agent.client.get("/").body
      #expect(page.contains("&lt;b&gt;&amp;amp;&lt;/b&gt;"))
      #expect(!page.contains("<b>"))
      #expect(try await agent.stop() == 0)
    }
  }

  /// As a double-quoted scalar of YAML.
  private static func quoted(_ text: String) -> String {
    "\""
      + text.unicodeScalars.map { scalar in
        switch scalar {
        case "\"", "\\": "\\\(scalar)"
        case "\n": "\\n"
        case "\t": "\\t"
        default: String(scalar)
        }
      }.joined() + "\""
  }

  @Test("three hundred targets all get their first round, ports and addresses alike")
  func manyTargets() async throws {
    try await withEventLoop { loop in
      let open = try TestPort(.open)
      let targets = (1...300).map { number in
        number % 3 == 0
          ? "  - { name: t\(number), address: 127.0.0.1, port: \(open.number) }\n"
          : "  - { name: t\(number), address: 127.0.1.\(number % 250 + 1) }\n"
      }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 20s, timeout: 15s }\ntargets:\n" + targets.joined(), on: loop)
      try await agent.awaitReady()
      let listed = try await agent.client.json("/api/v1/targets").elements
      #expect(listed.count == 300)
      #expect(listed.allSatisfy { $0["status"]?.text == "ReachableViaWiFi" })
      let metrics = try await agent.client.metrics()
      #expect(metrics.value("reachd_targets") == 300)
      #expect(metrics.values("reachability_status", ["status": "ReachableViaWiFi"]).reduce(0, +) == 300)
      #expect(agent.lines("status_initial").count == 300)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test(
    "while a link comes and goes every scrape is whole, and the last state is the true one",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"))
  func flappingLink() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 200ms, timeout: 150ms }
        targets:
          - { name: gateway, address: \(StageAddress.gateway) }
          - { name: uplink, interface: veth0 }
          - default
        """, on: loop)
      try await agent.awaitReady()
      var seen: Double = 0
      for round in 0..<30 {
        try gateway.ip("link set veth1 \(round % 2 == 0 ? "down" : "up")")
        let metrics = try await agent.client.metrics()
        for name in ["gateway", "uplink", "default"] { #expect(metrics.statuses(of: name).count == 1) }
        let transitions = metrics.values("reachability_transitions_total", ["target": "uplink"]).reduce(0, +)
        #expect(transitions >= seen)
        seen = transitions
        #expect(metrics.values("reachability_link_up", ["interface": "veth0"]).count == 1)
      }
      for name in ["gateway", "uplink", "default"] { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
      try gateway.ip("link set veth1 down")
      for name in ["gateway", "uplink", "default"] {
        let target = try await agent.awaitStatus("NotReachable", of: name)
        #expect(target["reason"] == .string("carrier_lost"))
      }
      #expect(agent.brokenLogLines == [])
      // The changes of one target are numbered without a gap.
      let sequence = agent.lines("status_changed", target: "uplink").compactMap { $0["sequence"]?.number }
      #expect(zip(sequence, sequence.dropFirst()).allSatisfy { $1 == $0 + 1 })
      #expect(try await agent.stop() == 0)
    }
  }
}
