import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// A cable that is pulled or loose. Rounds are minutes apart here: what comes sooner was brought by the kernel's word.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct CarrierTests {
  @Test("a lost carrier is the cause for every kind of target at once; back, it mends at once what needs no peer")
  func lostAndFound() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try stage.ip("route add 169.254.0.0/16 dev veth0")
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let names = try server.perform {
        try FakeNameServer(loop, on: StageAddress.server) { .reply($0.addresses([StageAddress.server])) }
      }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5m, timeout: 20s }
        targets:
          - { name: service, address: 198.51.100.2, port: \(open.number) }
          - name: name
            host: www.reachd.test
            port: \(open.number)
            probes: [link, route, { dns: { server: "198.51.100.2:\(names.port)" } }, tcp]
          - { name: path, address: 198.51.100.2 }
          - { name: uplink, interface: veth0 }
          - { name: lan, link_local: veth0 }
          - default
        """, on: loop)
      var needPeer: [StatusWatch] = []
      var needNone: [StatusWatch] = []
      for name in ["service", "name"] { needPeer.append(try await StatusWatch(agent, name)) }
      for name in ["path", "uplink", "lan", "default"] { needNone.append(try await StatusWatch(agent, name)) }

      try router.ip("link set veth1 down")
      try await Self.expectLost(&needPeer)
      try await Self.expectLost(&needNone)
      let lost = try await agent.client.metrics()
      for target in ["service", "name", "path", "uplink", "lan", "default"] {
        #expect(lost.statuses(of: target) == ["NotReachable"])
        #expect(lost.transitions(of: target, to: "NotReachable") == 1)
        let reason = ["target": target, "layer": "link", "reason": "carrier_lost"]
        #expect(lost.value("reachability_reason_info", reason) == 1)
      }
      #expect(lost.value("reachability_link_up", ["interface": "veth0"]) == 0)
      #expect(lost.value("reachd_event_to_status_seconds_count") == 6)

      // As long as the router lets nothing through, a peer's answer cannot be what mends.
      try router.nft("table inet t { chain c { type filter hook forward priority 0; drop; }; }")
      try router.ip("link set veth1 up")
      for index in needNone.indices {
        try await needNone[index].expectUp(["route_ok", "interface_up", "route_ok", "route_ok"][index])
      }
      let back = try await agent.client.metrics()
      for target in ["service", "name"] {
        #expect(back.statuses(of: target) == ["NotReachable"])
        #expect(back.value("reachability_stale", ["target": target]) == 1)
      }
      #expect(back.value("reachd_event_to_status_seconds_count") == 10)
      try router.nft("delete table inet t")
      for index in needPeer.indices { try await needPeer[index].expectUp("tcp_open") }
      let mended = try await agent.client.metrics()
      for target in ["service", "name"] { #expect(mended.value("reachability_stale", ["target": target]) == 0) }
      #expect(try await agent.stop() == 0)
      names.stop()
      withExtendedLifetime(open) {}
    }
  }

  private static func expectLost(_ watches: inout [StatusWatch]) async throws {
    for index in watches.indices {
      let line = try await watches[index].expectDown("carrier_lost")
      #expect(line["layer"] == .string("link"))
      #expect(line["interface"] == .string("veth0"))
      #expect(line["from"] == .string("ReachableViaWiFi"))
      #expect(line["flags"] == .string("-- -------"))
      #expect(line["in_previous_seconds"]?.number ?? -1 > 0)
    }
  }

  @Test(
    "of fifty flaps a target with `hold` tells nothing but that it is held; one without tells what the merging leaves")
  func flaps() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let open = try gateway.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.gateway) }
      let names = ["quick", "held", "quick service", "held service"]
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5m, timeout: 20s }
        targets:
          - { name: quick, address: 198.51.100.2 }
          - { name: held, address: 198.51.100.2, hold: 40s }
          - { name: quick service, address: 192.0.2.254, port: \(open.number) }
          - { name: held service, address: 192.0.2.254, port: \(open.number), hold: 40s }
        """, on: loop)
      var quick = try await StatusWatch(agent, "quick")
      for name in names { _ = try await StatusWatch(agent, name) }

      let start = loop.now()
      try gateway.ip("link set veth1 down")
      try await quick.expectDown("carrier_lost")
      let first = try await agent.client.metrics()
      for name in ["held", "held service"] {
        #expect(first.statuses(of: name) == ["ReachableViaWiFi"])
        #expect(first.value("reachability_flapping", ["target": name]) == 1)
        #expect(first.value("reachability_stale", ["target": name]) == 1)
      }
      try gateway.ip(
        String(repeating: "link set veth1 up\nlink set veth1 down\n", count: 49) + "link set veth1 up")
      try stage.host.awaitLink("veth0", showing: "state UP")
      let last = try await agent.awaitMetrics("all to be well") { metrics in
        names.allSatisfy { name in
          let target = ["target": name]
          return metrics.statuses(of: name) == ["ReachableViaWiFi"]
            && metrics.value("reachability_stale", target) == 0 && metrics.value("reachability_flapping", target) == 0
        }
      }
      // A look at once, then one each 100 ms at most.
      let looks = loop.now().since(start) / .milliseconds(100) + 2
      #expect(Double(agent.lines("status_changed", target: "quick").count) <= looks)
      for name in ["held", "held service"] {
        #expect(agent.lines("status_changed", target: name).isEmpty)
        #expect(last.transitions(of: name, to: "NotReachable") == 0)
        #expect(last.value("reachability_raw_changes_total", ["target": name]) ?? 0 >= 2)
      }
      for name in ["quick", "quick service"] {
        let sequence = agent.lines("status_changed", target: name).compactMap { $0["sequence"]?.number }
        #expect(sequence == (2..<(sequence.count + 2)).map(Double.init))
      }
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }
}
