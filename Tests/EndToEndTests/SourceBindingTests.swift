import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Targets that are reached by a source of their own, through the whole program.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .serialized, .timeLimit(.minutes(5)))
struct SourceBindingTests {
  /// A second way to the server, on `veth8`, that only policy routing knows: by mark 16, or from 203.0.113.1.
  private static func stageSecondWay(_ stage: NetworkStage, to server: NetworkNamespace) throws {
    try stage.join(stage.host, "veth8", to: server, "veth9")
    try server.ip("address add 203.0.113.2/24 dev veth9\naddress add 198.51.100.53/32 dev lo")
    try stage.ip(
      """
      address add 203.0.113.1/24 dev veth8
      route add 198.51.100.0/24 via 203.0.113.2 dev veth8 table 100
      rule add fwmark 16 lookup 100 priority 100
      rule add from 203.0.113.1 lookup 100 priority 101
      """)
  }

  @Test("mark, address and interface choose the way of the route lookup and of the connection alike")
  func policyRouting() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      try Self.stageSecondWay(stage, to: server)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let folder = try TestFolder()
      let place = "address: 198.51.100.2, port: \(open.number)"
      let file = try folder.write(
        """
        targets:
          - { name: plain, \(place) }
          - { name: mark, \(place), source: { mark: 0x10 } }
          - { name: address, \(place), source: { address: 203.0.113.1 } }
          - { name: interface, \(place), source: { interface: veth0 } }
          - { name: both, \(place), source: { interface: veth8, mark: 0x10 } }
          - { name: elsewhere, \(place), source: { interface: lo } }
        """, to: "reachd.yaml")
      let names = ["plain", "mark", "address", "interface", "both", "elsewhere"]
      let (results, _) = try await Reachd.probe(names, config: file, on: loop)
      #expect(results.map { $0["path"]?["interface"]?.text } == ["veth0", "veth8", "veth8", "veth0", "veth8", ""])
      #expect(results.map { $0["reason"]?.text } == Array(repeating: "tcp_open", count: 5) + ["scope_no_route"])
      #expect(results[2]["path"]?["source"] == .string("203.0.113.1"))
      // The way by mark is taken away, and only those that take it notice.
      try stage.ip("rule delete fwmark 16 lookup 100 priority 100\nrule add fwmark 16 prohibit priority 100")
      let (after, _) = try await Reachd.probe(names, config: file, on: loop)
      #expect(after[0]["reason"] == .string("tcp_open"))
      #expect(after[1]["reason"] == .string("route_prohibit"))
      withExtendedLifetime(open) {}
    }
  }

  @Test(
    "queries leave by the target's mark where the name server is the target's own", .enabled(if: NameServer.isAvailable)
  )
  func markedQueries() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try Self.stageSecondWay(stage, to: server)
      // Only by the second way: the router knows no way there.
      try router.ip("route add unreachable 198.51.100.53")
      let zone = "$ORIGIN reachd.test.\n@ 300 IN SOA ns h 1 1 1 1 1\n@ 300 IN NS ns\nns 300 IN A 198.51.100.2\n"
      let nsd = try NameServer(zone: zone, at: "198.51.100.53", in: server, on: loop)
      let folder = try TestFolder()
      let dns = "{ dns: { server: 198.51.100.53 } }"
      let file = try folder.write(
        """
        defaults: { timeout: 3s }
        targets:
          - { name: marked, host: ns.reachd.test, source: { mark: 16 }, probes: [\(dns), route, link] }
          - { name: plain, host: ns.reachd.test, probes: [\(dns), route, link] }
        """, to: "reachd.yaml")
      _ = try await eventually("the name server", on: loop) {
        let (results, _) = try await Reachd.probe(["marked"], config: file, on: loop)
        return results.first?["reason"]?.text == "route_ok" ? true : nil
      }
      let (results, _) = try await Reachd.probe(["plain"], config: file, on: loop)
      #expect(results.first?["reason"] == .string("dns_unreachable"))
      withExtendedLifetime(nsd) {}
    }
  }

  @Test("a source address that is still tentative is waited for within the round: no failure, no Unknown")
  func tentative() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server6) }
      try stage.set("ipv6/conf/veth0/accept_dad", to: "1")
      try stage.set("ipv6/conf/veth0/dad_transmits", to: "2")
      let add = ["ip", "-6", "address", "add", "2001:db8::7/64", "dev", "veth0"]
      try stage.host.run(add)
      #expect(try stage.host.run(["ip", "-6", "address", "show", "dev", "veth0"]).contains("tentative"))
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 15s, timeout: 12s }
        targets:
          - { name: service, address: "2001:db8:1::2", port: \(open.number), source: { address: "2001:db8::7" } }
          - { name: tcp, address: "2001:db8:1::2", port: \(open.number), source: { address: "2001:db8::7" }, probes: [tcp] }
          - { name: pair, pair: { local: "2001:db8::7", remote: "2001:db8:1::2" } }
        """, on: loop)
      try await agent.awaitReady()
      for name in ["service", "tcp", "pair"] {
        let target = try #require(try await agent.target(name))
        #expect(target["status"] == .string("ReachableViaWiFi"), "\(name)")
        #expect(agent.lines("status_initial", target: name).first?["to"] == .string("ReachableViaWiFi"))
        #expect(agent.lines("status_changed", target: name).isEmpty)
      }
      #expect(try await agent.target("service")?["path"]?["source"] == .string("2001:db8::7"))
      // It goes, which is a failure, and comes back, which becomes none before it can be used.
      try stage.host.run(["ip", "-6", "address", "delete", "2001:db8::7/64", "dev", "veth0"])
      let lost = try await agent.awaitStatus("NotReachable", of: "service")
      #expect(lost["reason"] == .string("local_address_missing"))
      try stage.host.run(add)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      let changes = agent.lines("status_changed", target: "service").compactMap { $0["to"]?.text }
      #expect(changes == ["NotReachable", "ReachableViaWiFi"])
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  @Test(
    "a name whose queries cannot leave since the source address has gone is NotReachable for that, and stays so",
    .enabled(if: NameServer.isAvailable))
  func namesWithoutSource() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      try stage.ip("address add 192.0.2.7/24 dev veth0")
      let zone = "$ORIGIN reachd.test.\n@ 300 IN SOA ns h 1 1 1 1 1\n@ 300 IN NS ns\nns 300 IN A 198.51.100.2\n"
      let nsd = try NameServer(zone: zone, at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 1s, timeout: 900ms, unknown_after: 2 }
        targets:
          - name: service
            host: ns.reachd.test
            port: \(open.number)
            source: { address: 192.0.2.7 }
            probes: [link, route, { dns: { server: 198.51.100.2 } }, tcp]
        """, on: loop)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      let before = agent.lines("status_changed").count
      try stage.ip("address delete 192.0.2.7/24 dev veth0")
      let lost = try await agent.awaitStatus("NotReachable", of: "service")
      #expect(lost["reason"] == .string("local_address_missing"))
      _ = try await eventually("rounds without an address", on: loop, state: { agent.process.errors }) { () -> Bool? in
        let labels = ["target": "service", "probe": "dns", "outcome": "error"]
        return try await agent.client.metrics().value("reachability_probe_runs_total", labels) ?? 0 >= 5 ? true : nil
      }
      #expect(try await agent.target("service")?["reason"] == .string("local_address_missing"))
      #expect(agent.lines("status_changed").count == before + 1)
      try stage.ip("address add 192.0.2.7/24 dev veth0")
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open)) {}
    }
  }

  @Test("an optimistic or a deprecated source address is as good as any")
  func usable() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server6) }
      try stage.ip("address add 2001:db8::8/64 dev veth0 preferred_lft 0")
      // Duplicate address detection that does not end while this test lasts.
      for (name, value) in [("accept_dad", "1"), ("dad_transmits", "600"), ("optimistic_dad", "1")] {
        try stage.set("ipv6/conf/veth0/\(name)", to: value)
      }
      try stage.host.run(["ip", "-6", "address", "add", "2001:db8::6/64", "dev", "veth0", "optimistic"])
      let to = "address: \"2001:db8:1::2\", port: \(open.number)"
      try await expectVerdicts(
        [
          .up("optimistic", "\(to), source: { address: \"2001:db8::6\" }", "-R -------", "tcp_open"),
          .up("deprecated", "\(to), source: { address: \"2001:db8::8\" }", "-R -------", "tcp_open"),
          .down("absent", "\(to), source: { address: \"2001:db8::9\" }", "local_address_missing"),
        ], on: loop)
      withExtendedLifetime(open) {}
    }
  }

  @Test("a source address that another host has is said to be one, with what to do, and not awaited")
  func duplicate() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      try gateway.ip("address add 2001:db8::7/64 dev veth1")
      try stage.set("ipv6/conf/veth0/accept_dad", to: "1")
      try stage.set("ipv6/conf/veth0/dad_transmits", to: "1")
      try stage.host.run(["ip", "-6", "address", "add", "2001:db8::7/64", "dev", "veth0"])
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 2s, timeout: 1500ms }
        targets:
          - { name: service, address: "2001:db8::fe", port: 9, source: { address: "2001:db8::7" } }
        """, on: loop)
      let target = try await agent.awaitStatus("NotReachable", of: "service")
      #expect(target["reason"] == .string("local_address_missing"))
      let line = try await agent.awaitLine("self_check") { $0["check"] == .string("source") }
      #expect(line["problem"]?.text?.contains("2001:db8::7") == true)
      #expect(line["problem"]?.text?.contains("duplicate address detection") == true)
      #expect(line["problem"]?.text?.contains("service") == true)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a mark without the right to set one is Unknown, and said once with the setting, the targets and the remedy")
  func permission() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let place = "address: 198.51.100.2, port: \(open.number)"
      let dropping = ["setpriv", "--bounding-set", "-net_admin,-net_raw", "--inh-caps", "-all"]
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 1s, timeout: 900ms, unknown_after: 1, fall: 5 }
        targets:
          - { name: plain, \(place) }
          - { name: first, \(place), source: { mark: 16 } }
          - { name: second, \(place), source: { mark: 17 } }
          - { name: bound, \(place), source: { interface: veth0 } }
        """, under: dropping, on: loop)
      for name in ["first", "second"] {
        let line = try await agent.awaitLine("status_initial", target: name)
        #expect(line["to"] == .string("Unknown"))
        #expect(line["reason"] == .string("probe_error:EPERM"))
      }
      for name in ["plain", "bound"] { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
      let line = try await agent.awaitLine("self_check") { $0["check"] == .string("permission") }
      #expect(line["level"] == .string("warning"))
      #expect(line["problem"]?.text?.contains("source.mark") == true)
      #expect(line["problem"]?.text?.contains("first, second") == true)
      #expect(line["remedy"]?.text?.contains("AmbientCapabilities=CAP_NET_RAW") == true)
      _ = try await eventually("more rounds", on: loop) { () -> Bool? in
        let runs = try await agent.client.metrics().value(
          "reachability_probe_runs_total", ["target": "first", "probe": "tcp", "outcome": "error"])
        return runs ?? 0 >= 6 ? true : nil
      }
      #expect(agent.lines("self_check").count { $0["check"] == .string("permission") } == 1)
      #expect(agent.lines("status_changed").isEmpty)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  @Test("the interface may be a VRF, whose table the lookup then asks", .enabled(if: vrfIsAvailable, "needs vrf"))
  func vrf() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      try stage.ip(
        """
        link add blue type vrf table 100
        link set blue up
        link set veth0 master blue
        """)
      try stage.ip("route replace default via 192.0.2.254 dev veth0 table 100")
      let open = try gateway.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.gateway) }
      try await expectVerdicts(
        [
          .up(
            "by the VRF", "address: 192.0.2.254, port: \(open.number), source: { interface: blue }", "-R ------d",
            "tcp_open"),
          .down("without", "address: 198.51.100.7", "no_route"),
        ], on: loop)
      withExtendedLifetime(open) {}
    }
  }

  /// Whether the kernel has VRF devices. Many small kernels do not, so that not even CI insists on this one.
  private static let vrfIsAvailable: Bool =
    (try? runProgram(["unshare", "--net", "ip", "link", "add", "blue", "type", "vrf", "table", "100"]))?.isSuccess
    ?? false
}
