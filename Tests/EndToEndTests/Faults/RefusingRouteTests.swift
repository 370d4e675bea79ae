import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Routes and rules that refuse. Rounds are minutes apart: it is the kernel's word that counts.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct RefusingRouteTests {
  private static let reasons = [
    ("blackhole", "route_blackhole", "route_blackhole"), ("prohibit", "route_prohibit", "route_prohibit"),
    // An unreachable rule is told like a missing route by the kernel.
    ("unreachable", "route_unreachable", "no_route"),
  ]

  @Test(
    "routes and rules of the types blackhole, prohibit and unreachable, in both families, are named and recovered from")
  func refusals() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5m, timeout: 20s }
        targets:
          - { name: four, address: 198.51.100.2 }
          - { name: six, address: "2001:db8:1::2" }
          - { name: other, address: 203.0.113.9 }
        """, on: loop)
      var four = try await StatusWatch(agent, "four")
      var six = try await StatusWatch(agent, "six")
      let other = try await StatusWatch(agent, "other")
      for (kind, byRoute, byRule) in Self.reasons {
        try stage.ip("route add \(kind) 198.51.100.2\nroute add \(kind) 2001:db8:1::2")
        try await four.expectDown(byRoute)
        try await six.expectDown(byRoute)
        try stage.ip("route delete \(kind) 198.51.100.2\nroute delete \(kind) 2001:db8:1::2")
        try await four.expectUp("route_ok")
        try await six.expectUp("route_ok")
        try stage.ip("rule add to 198.51.100.2 \(kind) priority 10")
        try stage.ip6("rule add to 2001:db8:1::2 \(kind) priority 10")
        try await four.expectDown(byRule)
        try await six.expectDown(byRule)
        try stage.ip("rule delete to 198.51.100.2 \(kind) priority 10")
        try stage.ip6("rule delete to 2001:db8:1::2 \(kind) priority 10")
        try await four.expectUp("route_ok")
        try await six.expectUp("route_ok")
      }
      #expect(other.unread.isEmpty)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(gateway) {}
    }
  }
}
