import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// More changes than the kernel keeps for a process that does not get to run.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct OverrunTests {
  @Test("lost events are logged and counted, and what they would have told is known all the same")
  func overrun() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 1h, timeout: 1s }
        targets: [{ name: server, address: 198.51.100.2 }, { name: uplink, interface: veth0 }]
        """, on: loop)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "server")
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "uplink")
      agent.process.send(SIGSTOP)
      let routes = (0..<24_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 dev veth0" }
      try stage.ip(routes.joined(separator: "\n"))
      // These come when nothing is kept any more.
      try stage.ip("route delete default\nlink set veth0 name lan0")
      agent.process.send(SIGCONT)
      let line = try await agent.awaitLine("netlink_overrun")
      #expect(line["level"]?.text == "warning")
      #expect(line["resync_seconds"] != nil)
      #expect(try await agent.awaitStatus("NotReachable", of: "server")["reason"] == .string("no_route"))
      #expect(try await agent.awaitStatus("NotReachable", of: "uplink")["reason"] == .string("interface_missing"))
      let metrics = try await agent.client.metrics()
      #expect(metrics.value("reachd_netlink_overruns_total") ?? 0 >= 1)
      #expect(metrics.value("reachd_netlink_resyncs_total") ?? 0 >= 1)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(gateway) {}
    }
  }
}
