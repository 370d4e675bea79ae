import ReachCore
import ReachTestSupport
import Testing

/// Lookups bound to an interface, an address or a mark; pairs; link-local targets.
@Suite(.enabled(if: canStage, whyNot)) struct ScopedRouteTests {
  @Test("over an interface without a route there is none, though the kernel would assume one (K2)")
  func scopedWithoutRoute() async throws {
    let decisions = try await withTwoUplinks { _, ask, _ in
      var decisions: [RouteFinding.Decision] = []
      for name in ["veth0", "veth2", "nothere"] {
        for address in [remote, remote6] { decisions.append(try await ask.decision(address, from: .interface(name))) }
      }
      return decisions
    }
    #expect(
      decisions
        == [
          .unicast, .unicast, .refused(.scopeNoRoute), .refused(.scopeNoRoute), .refused(.scopeNoDevice),
          .refused(.scopeNoDevice),
        ])
  }

  @Test("a scoped lookup finds the lesser route over its interface", .timeLimit(.minutes(4)))
  func scopedToTheLesser() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      try stage.ip(
        """
        route add default via 198.51.100.254 metric 500
        route add default via 2001:db8:1::fe metric 2000
        """)
      return [
        try await ask(remote, from: .interface("veth2")), try await ask(remote6, from: .interface("veth2")),
        try await ask(remote), try await ask(remote6),
      ]
    }
    #expect(findings.map(\.decision) == [.unicast, .unicast, .unicast, .unicast])
    #expect(findings.map(\.interface) == ["veth2", "veth2", "veth0", "veth0"])
    #expect(findings[0].source == "198.51.100.1")
    #expect(findings[1].source == "2001:db8:1::1")
  }

  @Test("an interface that is down has no routes over it", .timeLimit(.minutes(4)))
  func scopedToDown() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("link set veth0 down")
      return [
        try await ask.decision(remote, from: .interface("veth0")),
        try await ask.decision(remote6, from: .interface("veth0")),
      ]
    }
    #expect(decisions == [.refused(.scopeNoRoute), .refused(.scopeNoRoute)])
  }

  @Test("a bound socket passes over a blackhole in IPv4, and then has no route", .timeLimit(.minutes(4)))
  func scopedBlackhole() async throws {
    let decisions = try await withTwoUplinks { stage, ask, _ in
      try stage.ip("route add blackhole \(remote)")
      return [try await ask.decision(remote, from: .interface("veth2")), try await ask.decision(remote)]
    }
    #expect(decisions == [.refused(.scopeNoRoute), .refused(.routeBlackhole)])
  }

  @Test("an IPv6 source does not loosen the interface", .timeLimit(.minutes(4)))
  func scopedWithSource() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      let source = SourceBinding(interface: "veth2", address: "2001:db8:1::1")
      let without = try await ask(remote6, from: source)
      try stage.ip("route add default via 2001:db8:1::fe metric 2000")
      return [without, try await ask(remote6, from: source)]
    }
    #expect(findings[0].decision == .refused(.scopeNoRoute))
    #expect(findings[1].decision == .unicast)
    #expect(findings[1].interface == "veth2")
    #expect(findings[1].source == "2001:db8:1::1")
  }

  @Test("a source that is no address of this host is missing, not a blackhole", .timeLimit(.minutes(4)))
  func foreignSource() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      var decisions = [
        try await ask.decision(remote, from: .address("192.0.2.77")),
        try await ask.decision(remote6, from: .address("2001:db8::77")),
      ]
      try stage.ip("address add 192.0.2.77/24 dev veth0\naddress add 2001:db8::77/64 dev veth0 nodad")
      decisions += [
        try await ask.decision(remote, from: .address("192.0.2.77")),
        try await ask.decision(remote6, from: .address("2001:db8::77")),
      ]
      return decisions
    }
    #expect(decisions == [.refused(.localAddressMissing), .refused(.localAddressMissing), .unicast, .unicast])
  }

  @Test("the source is what the finding says, and rules on it apply", .timeLimit(.minutes(4)))
  func sourceRules() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      try stage.ip(
        """
        rule add from 198.51.100.1 table 100
        route add default via 198.51.100.254 table 100
        """)
      try stage.ip6("rule add from 2001:db8:1::1 table 100\nroute add default via 2001:db8:1::fe table 100")
      var findings = [
        try await ask(remote, from: .address("198.51.100.1")), try await ask(remote6, from: .address("2001:db8:1::1")),
      ]
      try stage.ip("rule add from 198.51.100.1 blackhole priority 10")
      try stage.ip6("rule add from 2001:db8:1::1 blackhole priority 10")
      findings += [
        try await ask(remote, from: .address("198.51.100.1")), try await ask(remote6, from: .address("2001:db8:1::1")),
      ]
      return findings
    }
    #expect(
      findings.map(\.decision) == [.unicast, .unicast, .refused(.routeBlackhole), .refused(.routeBlackhole)])
    #expect(findings[0].interface == "veth2")
    #expect(findings[0].source == "198.51.100.1")
    #expect(findings[0].table == 100)
    #expect(findings[1].interface == "veth2")
    #expect(findings[1].source == "2001:db8:1::1")
    #expect(findings[1].table == 100)
  }

  @Test("there is no route from one family to the other", .timeLimit(.minutes(4)))
  func familyMismatch() async throws {
    let decisions = try await withGateway { _, ask, _ in
      [
        try await ask.decision(remote6, from: .address(StageAddress.host)),
        try await ask.decision(remote, from: .address(StageAddress.host6)),
      ]
    }
    #expect(decisions == [.refused(.noRoute), .refused(.noRoute)])
  }

  @Test("a mark chooses the table as it does for the socket (K21)", .timeLimit(.minutes(4)))
  func marks() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      try stage.ip("rule add not fwmark 0xca6c table 51820\nroute add default dev veth2 table 51820")
      try stage.ip6("rule add not fwmark 0xca6c table 51820\nroute add default dev veth2 table 51820")
      return [
        try await ask(remote), try await ask(remote6), try await ask(remote, from: .mark(0xca6c)),
        try await ask(remote6, from: .mark(0xca6c)),
      ]
    }
    #expect(findings.map(\.interface) == ["veth2", "veth2", "veth0", "veth0"])
    #expect(findings.map(\.table) == [51820, 51820, 254, 254])
    #expect(findings.map(\.isOnLink) == [true, true, false, false])
  }

  @Test("a pair needs its local half to be this host's; then the remote half counts", .timeLimit(.minutes(4)))
  func pairs() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      func pair(_ local: IPAddress, _ remote: IPAddress) async throws -> RouteFinding.Decision? {
        try await ask(.pair(local: local, remote: remote), [Candidate(remote)]).first?.decision
      }
      try stage.ip("route add prohibit 203.0.113.10")
      return [
        try await pair(StageAddress.host, remote), try await pair(StageAddress.host6, remote6),
        try await pair("192.0.2.77", remote), try await pair("2001:db8::77", remote6),
        try await pair(StageAddress.host, "203.0.113.10"), try await pair(StageAddress.host, StageAddress.host),
      ]
    }
    #expect(
      decisions
        == [
          .unicast, .unicast, .refused(.localAddressMissing), .refused(.localAddressMissing), .refused(.routeProhibit),
          .local,
        ])
  }

  @Test("169.254/16 is looked for on the interface it is asked about", .timeLimit(.minutes(4)))
  func linkLocal() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      func lookAt(_ interface: String) async throws -> RouteFinding? {
        try await ask(.linkLocal(interface: interface), [Candidate("169.254.0.0")]).first
      }
      var findings = [try await lookAt("veth0"), try await lookAt("veth2"), try await lookAt("nothere")]
      try stage.ip("route add 169.254.0.0/16 dev veth0 metric 1000\naddress add 169.254.7.7/16 dev veth2")
      findings += [try await lookAt("veth0"), try await lookAt("veth2")]
      return findings
    }
    #expect(
      findings.map { $0?.decision }
        == [.unicast, .refused(.scopeNoRoute), .refused(.scopeNoDevice), .unicast, .unicast])
    #expect(findings.map { $0?.isOnLink } == [false, false, false, true, true])
    #expect(findings[3]?.interface == "veth0")
    #expect(findings[4]?.interface == "veth2")
  }
}
