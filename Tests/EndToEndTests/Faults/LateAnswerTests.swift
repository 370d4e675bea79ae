import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Connections that are under way when the path changes tell of a path that is no more.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct LateAnswerTests {
  @Test("neither the timeout nor the success of a connection from before a change tells anything after it")
  func outdated() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.ip("address add 192.0.2.253/24 dev veth1\naddress add 192.0.2.252/24 dev veth1")
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5m, timeout: 30s, fall: 1 }
        targets: [{ name: service, address: 198.51.100.2, port: \(open.number) }]
        """, on: loop)
      var service = try await StatusWatch(agent, "service")
      let silence = "table inet t { chain c { type filter hook forward priority 0; drop; }; }"

      // Another gateway makes the agent ask the peer again, which says nothing now.
      try router.nft(silence)
      try stage.ip("route replace default via 192.0.2.253")
      try await Self.awaitConnecting(stage, on: loop)
      try router.ip("link set veth1 down")
      try await service.expectDown("carrier_lost")
      try await Self.awaitRound(agent)
      #expect(try await agent.target("service")?["reason"] == .string("carrier_lost"))
      #expect(service.unread.isEmpty)
      try router.nft("delete table inet t")
      try router.ip("link set veth1 up")
      try await service.expectUp("tcp_open")

      // A dormant link still carries packets, so that an answer from before the change can arrive.
      try router.nft(silence)
      try stage.ip("route replace default via 192.0.2.252")
      try await Self.awaitConnecting(stage, on: loop)
      try stage.ip("link set veth0 mode dormant\nlink set veth0 state dormant")
      try await service.expectDown("link_dormant")
      try router.nft("delete table inet t")
      try await Self.awaitRound(agent)
      #expect(try await agent.target("service")?["reason"] == .string("link_dormant"))
      #expect(service.unread.isEmpty)
      let metrics = try await agent.client.metrics()
      #expect(metrics.runs(of: "tcp", "failure", target: "service") == 0)
      try stage.ip("link set veth0 mode default\nlink set veth0 state up")
      try await service.expectUp("tcp_open")
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  /// Waits until a connection is under way.
  private static func awaitConnecting(_ stage: NetworkStage, on loop: EventLoop) async throws {
    _ = try await eventually("a connection that is under way", on: loop) {
      try stage.host.run(["ss", "-Htn", "state", "syn-sent"]).contains("198.51.100.2") ? true : nil
    }
  }

  /// Waits until one more round has ended, which finds the link as it is and tries no connection.
  private static func awaitRound(_ agent: RunningAgent) async throws {
    let before = try await agent.client.metrics().runs(of: "link", "failure", target: "service")
    try await agent.awaitRuns(before + 1, of: "link", "failure", target: "service")
  }
}
