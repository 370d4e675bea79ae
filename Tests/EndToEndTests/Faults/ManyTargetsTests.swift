import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// One cable with many targets behind it.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct ManyTargetsTests {
  @Test("three hundred targets behind one cable change once each, and the agent answers meanwhile")
  func cut() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: "198.51.100.2") }
      let targets = (0..<300).map { number in
        let port = number % 3 == 0 ? ", port: \(open.number)" : ""
        let address = number % 3 == 0 ? 2 : number % 200 + 10
        return "  - { name: t\(number), address: 198.51.100.\(address)\(port) }\n"
      }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 5m, timeout: 20s }\ntargets:\n" + targets.joined(), on: loop)
      try await agent.awaitReady()
      try router.ip("link set veth1 down")
      var answers = 0
      _ = try await eventually("all to be lost", on: loop, state: { agent.process.errors }) {
        answers += try await agent.client.get("/-/healthy").status == 200 ? 1 : 0
        return agent.lines("status_changed").count >= 300 ? true : nil
      }
      #expect(answers > 0)
      #expect(try await Self.count(of: "NotReachable", agent) == 300)
      let counted = try await agent.client.metrics(beginningWith: "reachd_event_to_status_seconds_count")
      #expect(counted.value("reachd_event_to_status_seconds_count") == 300)

      try router.ip("link set veth1 up")
      _ = try await eventually("all to be back", on: loop) {
        try await Self.count(of: "ReachableViaWiFi", agent) == 300 ? true : nil
      }
      let changes = agent.lines("status_changed")
      #expect(changes.count == 600)
      let losses = changes.filter { $0["to"] == .string("NotReachable") }
      #expect(Set(losses.compactMap { $0["target"]?.text }).count == 300)
      #expect(losses.allSatisfy { $0["sequence"] == .number(2) && $0["reason"] == .string("carrier_lost") })
      #expect(changes.filter { $0["to"] == .string("ReachableViaWiFi") }.allSatisfy { $0["sequence"] == .number(3) })
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  /// How many targets have that status. Of so many, only these series are read.
  private static func count(of status: String, _ agent: RunningAgent) async throws -> Double {
    try await agent.client.metrics(beginningWith: "reachability_status{")
      .values("reachability_status", ["status": status]).reduce(0, +)
  }
}
