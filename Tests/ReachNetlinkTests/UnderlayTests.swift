import CReachLinux
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachNetlink

/// The tunnels are put into the monitor's table rather than made, since a kernel need not have their modules; the routes
/// to their far ends are real.
@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct UnderlayTests {
  private func tunnel(
    _ index: Int32, to remote: IPAddress, mark: UInt32 = 0, outputInterface: Int32 = 0
  ) -> LinkAttributes {
    var link = LinkAttributes(
      index: index, name: "t\(index)", flags: IFF_UP.rawValue | IFF_LOWER_UP.rawValue | IFF_POINTOPOINT.rawValue,
      hardwareType: UInt16(ARPHRD_TUNNEL))
    link.kind = "ipip"
    link.tunnel = LinkAttributes.Tunnel(remote: remote, outputInterface: outputInterface, mark: mark)
    return link
  }

  private func withTunnels<Value: Sendable>(
    wwanInterfaces: [String] = [], _ tunnels: [LinkAttributes],
    _ body: @escaping @Sendable (NetworkStage, NetworkNamespace, LinkMonitor, ChangeInbox) async throws -> Value
  ) async throws -> Value {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let monitor = try LinkMonitor(
        loop: loop, session: try NetlinkSession(loop: loop), wwanInterfaces: wwanInterfaces)
      defer { monitor.stop() }
      let inbox = ChangeInbox(monitor, on: loop)
      try await inbox.until { monitor.finding(named: "veth0").state == .usable }
      inbox.clear()
      monitor.state.withState { state in for tunnel in tunnels { _ = state.core.table.update(tunnel) } }
      return try await body(stage, gateway, monitor, inbox)
    }
  }

  @Test("a tunnel's underlay is usable, and down once the interface it leaves by has lost its carrier")
  func followsCarrier() async throws {
    try await withTunnels([tunnel(100, to: StageAddress.server)]) { _, gateway, monitor, inbox in
      let finding = try #require(monitor.finding(index: 100))
      #expect(finding.medium == .vpn)
      #expect(finding.state == .usable)
      #expect(finding.underlay == .usable)
      try gateway.ip("link set veth1 down")
      try await inbox.until { monitor.finding(index: 100)?.underlay == .down }
    }
  }

  @Test("a tunnel's underlay is down once there is no route to its far end, without any news of a link")
  func followsRoutes() async throws {
    try await withTunnels([tunnel(100, to: StageAddress.server)]) { stage, _, monitor, inbox in
      #expect(monitor.finding(index: 100)?.underlay == .usable)
      try stage.ip("route del default via 192.0.2.254")
      try await inbox.until { monitor.finding(index: 100)?.underlay == .down }
      #expect(!inbox.kinds.contains(.link))
    }
  }

  @Test("a tunnel over a cellular interface is over cellular, through another tunnel too")
  func findsCellular() async throws {
    try await withTunnels(
      wwanInterfaces: ["veth0"], [tunnel(100, to: StageAddress.server), tunnel(101, to: StageAddress.server6)]
    ) { _, _, monitor, _ in
      #expect(monitor.finding(index: 100)?.underlay == .cellular)
      #expect(monitor.finding(index: 101)?.underlay == .cellular)
    }
  }

  @Test("the far end is looked up with the tunnel's own mark")
  func usesMark() async throws {
    try await withTunnels([
      tunnel(100, to: "203.0.113.1"), tunnel(101, to: "203.0.113.1", mark: 0x10),
    ]) { stage, _, monitor, inbox in
      try stage.ip(
        """
        rule add fwmark 0x10 table 4000
        route add default via 192.0.2.254 table 4000
        route add unreachable 203.0.113.0/24
        """)
      try await inbox.until { inbox.kinds.isSuperset(of: [.rule, .route]) }
      #expect(monitor.finding(index: 100)?.underlay == .down)
      #expect(monitor.finding(index: 101)?.underlay == .usable)
    }
  }

  @Test("a tunnel bound to an interface that has no route to the far end has a broken underlay")
  func usesInterface() async throws {
    try await withTunnels([tunnel(100, to: StageAddress.server, outputInterface: 1)]) { _, _, monitor, _ in
      #expect(monitor.finding(index: 100)?.underlay == .down)
    }
  }

  @Test("an interface that is no tunnel, or one without a known far end, has no underlay")
  func hasNone() async throws {
    var open = tunnel(100, to: StageAddress.server)
    open.tunnel = nil
    try await withTunnels([open]) { _, _, monitor, _ in
      #expect(monitor.finding(index: 100)?.underlay == nil)
      #expect(monitor.finding(named: "veth0").underlay == nil)
    }
  }
}
