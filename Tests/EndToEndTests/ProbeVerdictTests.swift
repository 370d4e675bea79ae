import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Every outcome that a network can be made to have, through the whole program: `reachd probe` in staged namespaces.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .serialized, .timeLimit(.minutes(4)))
struct ProbeVerdictTests {
  @Test("a service behind a router: open, closed, silent, rejected, and each policy's view of closed")
  func services() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.set("ipv4/icmp_ratelimit", to: "0")
      try router.set("ipv6/icmp/ratelimit", to: "0")
      try router.nft(
        """
        table inet t { chain c { type filter hook forward priority 0;
          tcp dport 7 drop
          ip daddr 198.51.100.2 tcp dport 1001 reject with icmp type net-unreachable
          ip daddr 198.51.100.2 tcp dport 1002 reject with icmp type host-unreachable
          ip daddr 198.51.100.2 tcp dport 1003 reject with icmp type admin-prohibited
          ip6 daddr 2001:db8:1::2 tcp dport 1001 reject with icmpv6 type no-route
          ip6 daddr 2001:db8:1::2 tcp dport 1002 reject with icmpv6 type addr-unreachable
          ip6 daddr 2001:db8:1::2 tcp dport 1003 reject with icmpv6 type admin-prohibited
          tcp dport 1004 reject with tcp reset
        }; }
        """)
      for (address, host) in [(StageAddress.server, "198.51.100.2"), (StageAddress.server6, "\"2001:db8:1::2\"")] {
        let port = try server.perform { () throws(SystemError) in try TestPort(.open, on: address) }
        let to = "address: \(host), timeout: 3s"
        try await expectVerdicts(
          [
            .up("open", "\(to), port: \(port.number)", "-R -------", "tcp_open"),
            .down("closed", "\(to), port: 1", "tcp_refused"),
            .up("closed, policy host", "\(to), port: 1, tcp_policy: host", "-R -------", "tcp_refused"),
            .up("closed, advisory", "\(to), port: 1, tcp_policy: advisory", "-R -------", "route_ok"),
            .down("silent", "address: \(host), port: 7, timeout: 300ms", "tcp_timeout"),
            .down("net unreachable", "\(to), port: 1001", "tcp_net_unreachable"),
            .down("host unreachable", "\(to), port: 1002", "tcp_host_unreachable"),
            .down("prohibited", "\(to), port: 1003", "tcp_admin_prohibited"),
            .down("reset by the router", "\(to), port: 1004", "tcp_refused"),
            .up("no port", to, "-R -------", "route_ok"),
            .down("no port, localwifi", "\(to), status_rule: localwifi", "route_ok", flags: "-R -------"),
          ], on: loop)
        withExtendedLifetime(port) {}
      }
    }
  }

  @Test("the kernel's routes: on-link, local, none, and those that refuse, in both families")
  func routes() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      try stage.join(stage.host, "quiet", to: gateway, "quiet1")
      try stage.ip("address add 203.0.113.1/24 dev quiet")
      for (index, kind) in ["unreachable", "prohibit", "blackhole", "throw"].enumerated() {
        try stage.ip("route add \(kind) 198.51.100.\(index + 1)/32\nroute add \(kind) 2001:db8:1::\(index + 1)/128")
      }
      let port = try gateway.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.gateway) }
      var cases: [ProbeCase] = [
        .up("on-link", "address: 192.0.2.254", "-R ------d", "route_ok"),
        .up("on-link service", "address: 192.0.2.254, port: \(port.number)", "-R ------d", "tcp_open"),
        .up("on-link 6", "address: \"2001:db8::fe\"", "-R ------d", "route_ok"),
        .up("loopback", "address: 127.0.0.1", "-R -----ld", "local_address"),
        .up("loopback 6", "address: \"::1\"", "-R -----ld", "local_address"),
        .up("own address", "address: 192.0.2.1", "-R -----ld", "local_address"),
        .up("default", "default: true", "-R -------", "route_ok"),
        .up("pair", "pair: { local: 192.0.2.1, remote: 198.51.100.77 }", "-R -------", "route_ok"),
        .down("pair without local", "pair: { local: 192.0.2.7, remote: 198.51.100.77 }", "local_address_missing"),
        .down("no device", "address: 192.0.2.254, source: { interface: none0 }", "scope_no_device"),
        .down("no route in scope", "address: 192.0.2.254, source: { interface: quiet }", "scope_no_route"),
        .up("interface", "interface: veth0", "-R -------", "interface_up"),
        .up("loopback interface", "interface: lo", "-R -----l-", "interface_up"),
        .down("missing interface", "interface: none0", "interface_missing"),
      ]
      let reasons = ["route_unreachable", "route_prohibit", "route_blackhole", "no_route"]
      for (index, reason) in reasons.enumerated() {
        cases.append(.down(reason, "address: 198.51.100.\(index + 1), port: 80", reason))
        cases.append(.down(reason + " 6", "address: \"2001:db8:1::\(index + 1)\", port: 80", reason))
      }
      try await expectVerdicts(cases, on: loop)
      withExtendedLifetime((gateway, port)) {}
    }
  }

  @Test("links: without carrier, down, dormant; no default route; IPv6 switched off")
  func links() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      try stage.host.awaitLink("veth0", showing: "state UP")

      try stage.ip("link set veth0 mode dormant\nlink set veth0 state dormant")
      try await expectVerdicts(
        [
          .down("dormant", "address: 198.51.100.2, port: 80", "link_dormant", flags: "-R -c-----"),
          .down("dormant interface", "interface: veth0", "link_dormant", flags: "-R -c-----"),
        ], on: loop)
      try stage.ip("link set veth0 mode default\nlink set veth0 state up")

      try gateway.ip("link set veth1 down")
      try stage.host.awaitLink("veth0", showing: "NO-CARRIER")
      try await expectVerdicts(
        [
          .down("service", "address: 198.51.100.2, port: 80", "carrier_lost"),
          .down("service 6", "address: \"2001:db8:1::2\", port: 80", "carrier_lost"),
          .down("neighbour", "address: 192.0.2.254", "carrier_lost"),
          .down("default", "default: true", "carrier_lost"),
          .down("interface", "interface: veth0", "carrier_lost"),
          .up("own address", "address: 192.0.2.1", "-R -----ld", "local_address"),
        ], on: loop)

      try stage.ip("link set veth0 down")
      try await expectVerdicts(
        [
          .down("service", "address: 198.51.100.2, port: 80", "no_route"),
          .down("default", "default: true", "no_route"),
          .down("interface", "interface: veth0", "link_down"),
        ], on: loop)

      try stage.set("ipv6/conf/all/disable_ipv6", to: "1")
      try await expectVerdicts([.down("v6", "address: \"2001:db8:1::2\", port: 80", "no_route")], on: loop)
    }
  }

  @Test("a neighbour that does not answer is told from a host beyond the router that does not")
  func neighbour() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      try await expectVerdicts(
        [
          .down("absent", "address: 192.0.2.99, port: 80", "neigh_failed"),
          .down("beyond", "address: 203.0.113.9, port: 80", "tcp_net_unreachable"),
        ], settings: "defaults: { timeout: 10s, interval: 20s }", on: loop)
      withExtendedLifetime(gateway) {}
    }
  }

  @Test(
    "a point-to-point interface sets t",
    .enabled(if: TestTunnel.isAvailable, "needs /dev/net/tun"))
  func tunnel() async throws {
    try await withNetworkNamespace { loop, stage in
      let tunnel = try TestTunnel("tun0")
      try stage.ip("link set tun0 up\naddress add 192.0.2.1/32 dev tun0\nroute add 203.0.113.0/24 dev tun0")
      try await expectVerdicts(
        [
          .up("tunnel", "address: 203.0.113.9", "-R t------", "route_ok"),
          .up("tunnel interface", "interface: tun0", "-R t------", "interface_up"),
        ], on: loop)
      withExtendedLifetime(tunnel) {}
    }
  }

  @Test("a cellular interface sets W and t, and W alone where the service is silent")
  func cellular() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.nft("table inet t { chain c { type filter hook forward priority 0; tcp dport 7 drop; }; }")
      let port = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let wwan = "ReachableViaWWAN"
      try await expectVerdicts(
        [
          ProbeCase("open", "address: 198.51.100.2, port: \(port.number)", "WR t------", wwan, "tcp_open"),
          ProbeCase("modem", "interface: veth0", "WR t------", wwan, "interface_up"),
          ProbeCase("default", "default: true", "WR t------", wwan, "route_ok"),
          .down(
            "silent", "address: 198.51.100.2, port: 7, timeout: 300ms", "tcp_timeout", flags: "W- -------"),
        ], settings: "wwan_interfaces: [\"veth*\"]", on: loop)
      withExtendedLifetime(port) {}
    }
  }

  @Test("what this host itself cannot do is Unknown, never down")
  func ownTrouble() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let port = try gateway.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.gateway) }
      try stage.set("ipv4/ip_local_port_range", to: "40000 40000")
      // The only port goes to a connection that is kept.
      let kept = try connecting(to: port)
      let folder = try TestFolder()
      for plugin in Reachd.plugins where !plugin.contains("TCP") {
        _ = try runProgram(["cp", plugin, folder.path + "/"])
      }
      try await expectVerdicts(
        [.unknown("no port left", "address: 192.0.2.254, port: \(port.number)", "probe_error:EADDRNOTAVAIL")], on: loop)
      try await expectVerdicts(
        [
          .unknown("no backend", "address: 192.0.2.254, port: \(port.number)", "backend_missing"),
          .down("and no interface", "interface: none0", "interface_missing"),
        ], settings: "plugin_path: [\(folder.path)]", on: loop)
      try kept.close()
      withExtendedLifetime(gateway) {}
    }
  }

  @Test("the text is for people: a line a layer, then flags, status and reason, without colour where there is none")
  func text() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let port = try gateway.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.gateway) }
      for environment in [[], ["NO_COLOR=1"]] {
        let open = try await Reachd.run(["probe", "192.0.2.254:\(port.number)"], environment: environment, on: loop)
        #expect(open.status == 0)
        #expect(open.errors == "")
        let lines = open.output.split(separator: "\n")
        #expect(lines.first == "192.0.2.254:\(port.number)")
        for probe in ["link", "route", "tcp"] { #expect(lines.contains { $0.hasPrefix("  ok   \(probe) ") }) }
        #expect(lines.last?.hasPrefix("  -R ------d  ReachableViaWiFi  tcp_open") == true)
        let closed = try await Reachd.run(["probe", "192.0.2.254:1", "127.0.0.1"], environment: environment, on: loop)
        #expect(closed.status == 1)
        #expect(closed.output.contains("\n  FAIL tcp "))
        #expect(closed.output.contains("  -- -------  NotReachable  tcp_refused"))
        #expect(closed.output.contains("\n\n127.0.0.1\n"))
        for text in [open.output, closed.output] {
          #expect(!text.contains("\u{1b}"))
          #expect(!text.contains("✓") && !text.contains("✗"))
        }
      }
    }
  }
}
