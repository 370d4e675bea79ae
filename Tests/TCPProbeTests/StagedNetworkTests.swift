import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import TCPProbe

/// What the network and the kernel's tables can do to a connection, each staged in a private namespace.
@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct StagedNetworkTests {
  @Test("a server behind a router is open, closed, or silent, in both families")
  func behindRouter() async throws {
    let results = try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      defer { withExtendedLifetime((router, server)) {} }
      try router.nft(
        "table inet t { chain c { type filter hook forward priority 0; tcp dport 7 drop; }; }")
      let host = try ProbeHost.onThisLoop(loop)
      var results: [TCPFinding.Result?] = []
      for address in [StageAddress.server, StageAddress.server6] {
        let port = try server.perform { try TestPort(.open, on: address) }
        results.append(try await host.tcpResult(address, port.number, route: .leaving))
        results.append(try await host.tcpResult(address, 1, route: .leaving))
        results.append(try await host.tcpResult(address, 7, route: .leaving, within: .milliseconds(30)))
      }
      return results
    }
    let expected: [TCPFinding.Result?] = [.open, .failed(.tcpRefused), .failed(.tcpTimeout)]
    #expect(results == expected + expected)
  }

  @Test("every kind of rejection by a router is told apart")
  func rejections() async throws {
    let kinds: [(String, IPAddress, Reason)] = [
      ("icmp type net-unreachable", StageAddress.server, .tcpNetUnreachable),
      ("icmp type host-unreachable", StageAddress.server, .tcpHostUnreachable),
      ("icmp type prot-unreachable", StageAddress.server, .tcpRefused),
      ("icmp type port-unreachable", StageAddress.server, .tcpRefused),
      ("icmp type net-prohibited", StageAddress.server, .tcpAdminProhibited),
      ("icmp type host-prohibited", StageAddress.server, .tcpAdminProhibited),
      ("icmp type admin-prohibited", StageAddress.server, .tcpAdminProhibited),
      ("tcp reset", StageAddress.server, .tcpRefused),
      ("icmpv6 type no-route", StageAddress.server6, .tcpNetUnreachable),
      ("icmpv6 type admin-prohibited", StageAddress.server6, .tcpAdminProhibited),
      ("icmpv6 type addr-unreachable", StageAddress.server6, .tcpHostUnreachable),
      ("icmpv6 type port-unreachable", StageAddress.server6, .tcpRefused),
      ("icmpv6 type policy-fail", StageAddress.server6, .tcpAdminProhibited),
      ("icmpv6 type reject-route", StageAddress.server6, .tcpAdminProhibited),
      ("tcp reset", StageAddress.server6, .tcpRefused),
    ]
    let results = try await withNetworkNamespace { loop, stage in
      let network = try stage.stageRouterAndServer()
      let router = network.router
      defer { withExtendedLifetime(network) {} }
      try router.set("ipv4/icmp_ratelimit", to: "0")
      try router.set("ipv6/icmp/ratelimit", to: "0")
      let rules = kinds.enumerated().map { index, kind in
        "ip\(kind.1.family == .ipv6 ? "6" : "") daddr \(kind.1) tcp dport \(1000 + index) reject with \(kind.0);"
      }
      try router.nft(
        "table inet t { chain c { type filter hook forward priority 0; \(rules.joined(separator: " ")) }; }")
      let host = try ProbeHost.onThisLoop(loop)
      var results: [TCPFinding.Result?] = []
      for (index, kind) in kinds.enumerated() {
        results.append(try await host.tcpResult(kind.1, UInt16(1000 + index), route: .leaving))
      }
      return results
    }
    for (kind, result) in zip(kinds, results) { #expect(result == .failed(kind.2), "\(kind.0) \(kind.1)") }
  }

  @Test("a route that goes while the handshake is under way is no answer")
  func routeGone() async throws {
    let result = try await withNetworkNamespace { loop, stage in
      let network = try stage.stageRouterAndServer()
      defer { withExtendedLifetime(network) {} }
      try network.router.nft("table inet t { chain c { type filter hook forward priority 0; drop; }; }")
      let task = loop.spawn {
        // Before the kernel sends the SYN again, one second after the first.
        await loop.sleep(until: loop.now().advanced(by: .milliseconds(20)))
        try? stage.ip("route delete default")
      }
      let result = try await ProbeHost.onThisLoop(loop).tcpResult(
        StageAddress.server, 80, route: .leaving, within: .milliseconds(1_500))
      await task.value
      return result
    }
    #expect(result == .failed(.tcpTimeout))
  }

  @Test("a neighbour that answers nothing is a host that cannot be reached")
  func absentNeighbour() async throws {
    let findings = try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      defer { withExtendedLifetime(gateway) {} }
      let candidates = [StageAddress.absent, StageAddress.absent6].map { Candidate($0, route: .leaving) }
      return try await ProbeHost.onThisLoop(loop).tcpFindings(candidates, port: 80)
    }
    #expect(findings.map(\.result) == [.failed(.tcpHostUnreachable), .failed(.tcpHostUnreachable)])
  }

  @Test("a route that refuses does so at once, with its own errno")
  func refusingRoutes() async throws {
    let results = try await withNetworkNamespace { loop, stage in
      try stage.ip(
        """
        route add unreachable 198.51.100.1
        route add prohibit 198.51.100.2
        route add blackhole 198.51.100.3
        route add unreachable 2001:db8:1::1
        route add prohibit 2001:db8:1::2
        route add blackhole 2001:db8:1::3
        """)
      let addresses: [IPAddress] = [
        "198.51.100.1", "198.51.100.2", "198.51.100.3", "203.0.113.1",
        "2001:db8:1::1", "2001:db8:1::2", "2001:db8:1::3", "2001:db8:2::1",
      ]
      return try await ProbeHost.onThisLoop(loop).tcpFindings(addresses.map { Candidate($0) }, port: 80).map(\.result)
    }
    let expected = [EHOSTUNREACH, EACCES, EINVAL, ENETUNREACH].map {
      TCPFinding.Result.refusedLocally(FaultCode(errno: $0))
    }
    #expect(results == expected + expected)
  }

  @Test("no local port left is this host's fault where the route is fine, IPv6 switched off is a decision")
  func noLocalAddress() async throws {
    let results = try await withNetworkNamespace { loop, stage -> [TCPFinding.Result?] in
      let gateway = try stage.stageGateway()
      defer { withExtendedLifetime(gateway) {} }
      try stage.set("ipv4/ip_local_port_range", to: "40000 40000")
      let port = try gateway.perform { try TestPort(.open, on: StageAddress.gateway) }
      // The only port goes to a connection that is kept.
      let kept = try connecting(to: port)
      let host = try ProbeHost.onThisLoop(loop)
      let exhausted = try await host.tcpResult(StageAddress.gateway, port.number, route: .leaving)
      try kept.close()
      try stage.set("ipv6/conf/all/disable_ipv6", to: "1")
      return [exhausted, try await host.tcpResult(StageAddress.gateway6, 80)]
    }
    let code = FaultCode(errno: EADDRNOTAVAIL)
    #expect(results[0] == .fault(code))
    #expect(results[1] == .refusedLocally(code) || results[1] == .refusedLocally(FaultCode(errno: ENETUNREACH)))
  }

  @Test("what this host's own firewall drops on its way out looks like silence")
  func outputDrop() async throws {
    let result = try await withNetworkNamespace { loop, stage in
      try stage.nft("table inet t { chain c { type filter hook output priority 0; tcp dport 9 drop; }; }")
      return try await ProbeHost.onThisLoop(loop).tcpResult(.loopback, 9, within: .milliseconds(30))
    }
    #expect(result == .failed(.tcpTimeout))
  }

  @Test(
    "a connection to oneself is no success", arguments: [IPAddress.loopback, .loopback6], [RouteFinding?.none, .own])
  func selfConnect(address: IPAddress, route: RouteFinding?) async throws {
    let result = try await withNetworkNamespace { loop, stage in
      // With one port to choose from, the kernel meets its own SYN. It frees the port at its leisure, so each case has
      // a namespace of its own.
      try stage.set("ipv4/ip_local_port_range", to: "40000 40000")
      return try await ProbeHost.onThisLoop(loop).tcpResult(address, 40000, route: route)
    }
    #expect(result == .failed(.tcpRefused))
  }

  @Test("source address, interface and mark are what the peer and the routing rules see")
  func bindings() async throws {
    let results = try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      defer { withExtendedLifetime((router, server)) {} }
      try stage.ip("address add 192.0.2.7/24 dev veth0\nrule add fwmark 66 prohibit")
      try router.nft(
        "table inet t { chain c { type filter hook forward priority 0; ip saddr 192.0.2.1 reject with tcp reset; }; }")
      let port = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let host = try ProbeHost.onThisLoop(loop)
      var results: [TCPFinding.Result?] = []
      for source in [
        SourceBinding(), SourceBinding(interface: "veth0", address: "192.0.2.7", mark: 65), SourceBinding(mark: 66),
        SourceBinding(interface: "none"), SourceBinding(address: "203.0.113.5"),
      ] {
        results.append(try await host.tcpResult(StageAddress.server, port.number, route: .leaving, source: source))
      }
      return results
    }
    let expected: [TCPFinding.Result?] = [
      .failed(.tcpRefused), .open, .refusedLocally(FaultCode(errno: EACCES)),
      .refusedLocally(FaultCode(errno: ENODEV)), .fault(FaultCode(errno: EADDRNOTAVAIL)),
    ]
    #expect(results == expected)
  }

  @Test("a link-local address is reached through its zone, by name or number, or by the interface bound to")
  func zones() async throws {
    let results = try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      defer { withExtendedLifetime(gateway) {} }
      try gateway.ip("address add fe80::99/64 dev veth1")
      let index = gateway.perform { unsafe if_nametoindex("veth1") }
      let port = try gateway.perform { try TestPort(.open, on: IPAddress("fe80::99").scoped(to: String(index))) }
      let host = try ProbeHost.onThisLoop(loop)
      var results: [TCPFinding.Result?] = []
      for zone in ["veth0", String(unsafe if_nametoindex("veth0"))] {
        results.append(try await host.tcpResult(IPAddress("fe80::99").scoped(to: zone), port.number, route: .leaving))
      }
      let bound = SourceBinding(interface: "veth0")
      results.append(try await host.tcpResult("fe80::99", port.number, route: .leaving, source: bound))
      results.append(try await host.tcpResult("fe80::99", port.number))
      return results
    }
    #expect(results == [.open, .open, .open, .refusedLocally(FaultCode(errno: EINVAL))])
  }

  @Test("a thousand probes leave no TIME_WAIT and no descriptor; a polite close leaves the one it promises")
  func leavesNothing() async throws {
    let counts = try await withNetworkNamespace(isolatesDescriptors: true) { loop, stage in
      let host = try ProbeHost.onThisLoop(loop)
      let open = try TestPort(.open)
      let closed = try TestPort(.closed)
      let before = openDescriptors()
      for round in 0..<1_000 {
        let route: RouteFinding = round % 2 == 0 ? .leaving : .own
        let port = round % 10 == 9 ? closed.number : open.number
        _ = try await host.tcpFindings([Candidate(.loopback, route: route)], port: port)
        // The listener's queue is emptied, as a server would.
        if round % 10 != 9 { try open.accept()?.close() }
      }
      let descriptors = openDescriptors() - before
      let waiting = try timeWaits(stage)
      _ = try await host.tcpFindings(
        [Candidate(.loopback, route: .leaving)], port: open.number, probe: TCPProbe(closing: .fin))
      try open.accept()?.close()
      return [descriptors, waiting, try timeWaits(stage), loop.pendingTimers]
    }
    #expect(counts == [0, 0, 1, 0])
  }

  private func timeWaits(_ stage: NetworkStage) throws -> Int {
    try stage.host.run(["ss", "-Htan", "state", "time-wait"]).split(separator: "\n").count
  }
}

private func openDescriptors() -> Int { (0..<Int32(4096)).count { fcntl($0, F_GETFD) != -1 } }
