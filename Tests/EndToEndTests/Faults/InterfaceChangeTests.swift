import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What an administrator does to interfaces and addresses. Rounds are minutes apart: it is the kernel's word that counts.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct InterfaceChangeTests {
  @Test("an interface set down and up, an address taken away and given back: told, or held")
  func downAndAddress() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let open = try gateway.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.gateway) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5m, timeout: 20s }
        targets:
          - { name: path, address: 198.51.100.2 }
          - { name: held, address: 198.51.100.2, hold: 40s }
          - { name: neighbour, address: 192.0.2.254, port: \(open.number) }
          - { name: bound, address: 198.51.100.2, source: { interface: veth0 } }
          - { name: uplink, interface: veth0 }
        """, on: loop)
      var path = try await StatusWatch(agent, "path")
      var neighbour = try await StatusWatch(agent, "neighbour")
      var bound = try await StatusWatch(agent, "bound")
      var uplink = try await StatusWatch(agent, "uplink")
      let held = try await StatusWatch(agent, "held")

      try stage.ip("link set veth0 down")
      try await path.expectDown("no_route")
      try await neighbour.expectDown("no_route")
      try await bound.expectDown("scope_no_route")
      try await uplink.expectDown("link_down")
      try stage.ip("link set veth0 up\nroute add default via 192.0.2.254")
      try await path.expectUp("route_ok")
      try await bound.expectUp("route_ok")
      try await uplink.expectUp("interface_up")
      try await neighbour.expectUp("tcp_open")

      try stage.ip("address delete 192.0.2.1/24 dev veth0")
      try await path.expectDown("no_route")
      try await neighbour.expectDown("no_route")
      try await bound.expectDown("scope_no_route")
      try stage.ip("address add 192.0.2.1/24 dev veth0\nroute add default via 192.0.2.254")
      try await path.expectUp("route_ok")
      try await bound.expectUp("route_ok")
      try await neighbour.expectUp("tcp_open")

      #expect(uplink.unread.isEmpty)
      #expect(held.unread.isEmpty)
      let metrics = try await agent.client.metrics()
      #expect(metrics.value("reachability_raw_changes_total", ["target": "held"]) == 4)
      #expect(metrics.value("reachability_stale", ["target": "held"]) == 0)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  @Test("an interface deleted and made anew, or renamed, is followed by its name")
  func deletedAndRenamed() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5m, timeout: 20s }
        targets:
          - { name: path, address: 198.51.100.2 }
          - { name: bound, address: 198.51.100.2, source: { interface: veth0 } }
          - { name: veth0, interface: veth0 }
          - { name: uplink0, interface: uplink0 }
        """, on: loop)
      var path = try await StatusWatch(agent, "path")
      var bound = try await StatusWatch(agent, "bound")
      var old = try await StatusWatch(agent, "veth0")
      var new = try await StatusWatch(agent, "uplink0", is: "NotReachable")
      #expect(try await agent.target("uplink0")?["reason"] == .string("interface_missing"))

      try stage.ip("link delete veth0")
      try await path.expectDown("no_route")
      try await bound.expectDown(["scope_no_route", "scope_no_device"])
      // The kernel tells that it is down, then that it is gone; which of both is seen first is a matter of luck.
      try await old.expectDown(["link_down", "interface_missing"])
      _ = try await eventually("the interface to be missed", on: loop, state: { agent.process.errors }) {
        try await agent.target("veth0")?["reason"] == .string("interface_missing") ? true : nil
      }
      #expect(try await agent.client.metrics().values("reachability_link_up", ["interface": "veth0"]).isEmpty)
      try stage.join(stage.host, "veth0", to: gateway, "veth1")
      try stage.ip("address add 192.0.2.1/24 dev veth0\nroute add default via 192.0.2.254")
      try await path.expectUp("route_ok")
      try await bound.expectUp("route_ok")
      try await old.expectUp("interface_up")
      #expect(new.unread.isEmpty)

      let way = "address add 192.0.2.1/24 dev uplink0\nroute add default via 192.0.2.254"
      try stage.ip("link set veth0 down")
      try await old.expectDown("link_down")
      try await path.expectDown("no_route")
      try stage.ip("link set veth0 name uplink0\nlink set uplink0 up\naddress flush dev uplink0\n\(way)")
      try await new.expectUp("interface_up")
      let line = try await path.expectUp("route_ok")
      #expect(line["interface"] == .string("uplink0"))
      _ = try await eventually("the old name to be missed", on: loop, state: { agent.process.errors }) {
        let reasons = [try await agent.target("veth0")?["reason"], try await agent.target("bound")?["reason"]]
        return reasons == [.string("interface_missing"), .string("scope_no_device")] ? true : nil
      }
      let metrics = try await agent.client.metrics()
      #expect(metrics.value("reachability_link_up", ["interface": "uplink0"]) == 1)
      #expect(metrics.values("reachability_link_up", ["interface": "veth0"]).isEmpty)
      #expect(old.unread.isEmpty)
      #expect(try await agent.stop() == 0)
    }
  }
}
