import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What changes under a running agent is seen, whatever kind of message the kernel sends for it, if any.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct RouteChangeTests {
  @Test("a route, a rule, a next hop, an address and an interface that go and come back")
  func changes() async throws {
    // How the way to 198.51.100.2 is lost, what the agent says then, and how it comes back.
    let changes: [(String, String, String)] = [
      ("route delete default", "no_route", "route add default via 192.0.2.254"),
      ("route add prohibit 198.51.100.2", "route_prohibit", "route delete prohibit 198.51.100.2"),
      ("route add blackhole 198.51.100.2", "route_blackhole", "route delete blackhole 198.51.100.2"),
      (
        "rule add to 198.51.100.2 prohibit priority 10", "route_prohibit",
        "rule delete to 198.51.100.2 prohibit priority 10"
      ),
      ("nexthop delete id 7", "no_route", "route add default via 192.0.2.254"),
      (
        "address delete 192.0.2.1/24 dev veth0", "no_route",
        "address add 192.0.2.1/24 dev veth0\nroute add default via 192.0.2.254"
      ),
      ("link set veth0 down", "no_route", "link set veth0 up\nroute add default via 192.0.2.254"),
    ]
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 500ms, timeout: 400ms }
        targets: [{ name: server, address: 198.51.100.2 }]
        """, on: loop)
      for (loss, reason, cure) in changes {
        _ = try await agent.awaitStatus("ReachableViaWiFi", of: "server")
        if loss.hasPrefix("nexthop") {
          try stage.ip(
            """
            nexthop add id 7 via 192.0.2.254 dev veth0
            route replace default nhid 7
            """)
        }
        try stage.ip(loss)
        let target = try await agent.awaitStatus("NotReachable", of: "server")
        #expect(target["reason"] == .string(reason), "\(loss)")
        try stage.ip(cure)
      }
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "server")
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(gateway) {}
    }
  }
}
