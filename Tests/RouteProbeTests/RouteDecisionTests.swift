import ReachCore
import ReachTestSupport
import Testing

/// What becomes of each kind of route and rule.
@Suite(.enabled(if: canStage, whyNot)) struct RouteDecisionTests {
  @Test("a way through a gateway is unicast, with gateway, egress, source and table", .timeLimit(.minutes(4)))
  func gateway() async throws {
    let findings = try await withGateway { _, ask, _ in [try await ask(remote), try await ask(remote6)] }
    for (finding, gateway, source) in zip3(
      findings, [StageAddress.gateway, StageAddress.gateway6], [StageAddress.host, StageAddress.host6])
    {
      #expect(finding.decision == .unicast)
      #expect(finding.interface == "veth0")
      #expect(finding.gateway == gateway)
      #expect(finding.source == source)
      #expect(finding.table == 254)
      #expect(!finding.isOnLink)
      #expect(finding.legs.isEmpty)
    }
  }

  @Test("a neighbour is on-link", .timeLimit(.minutes(4)))
  func onLink() async throws {
    let findings = try await withGateway { _, ask, _ in
      [try await ask(StageAddress.gateway), try await ask(StageAddress.gateway6)]
    }
    for (finding, source) in zip(findings, [StageAddress.host, StageAddress.host6]) {
      #expect(finding.decision == .unicast)
      #expect(finding.isOnLink)
      #expect(finding.gateway == nil)
      #expect(finding.interface == "veth0")
      #expect(finding.source == source)
    }
  }

  @Test("an own address is local, over loopback, whichever interface has it", .timeLimit(.minutes(4)))
  func local() async throws {
    let findings = try await withGateway { _, ask, _ in
      var findings: [RouteFinding] = []
      for address in [StageAddress.host, StageAddress.host6, .loopback, .loopback6, "127.9.9.9"] {
        findings.append(try await ask(address))
      }
      return findings
    }
    for finding in findings {
      #expect(finding.decision == .local)
      #expect(finding.interface == "lo")
      #expect(finding.isOnLink)
    }
  }

  @Test("an IPv4 route through an IPv6 gateway is one through a gateway", .timeLimit(.minutes(4)))
  func via() async throws {
    let finding = try await withGateway { stage, ask, _ in
      try stage.ip("route add 203.0.113.0/24 via inet6 2001:db8::fe dev veth0")
      return try await ask(remote)
    }
    #expect(finding.decision == .unicast)
    #expect(finding.gateway == StageAddress.gateway6)
    #expect(!finding.isOnLink)
  }

  @Test(
    "the type of a route that refuses is the reason, in both families (K3)", .timeLimit(.minutes(4)),
    arguments: [
      ("blackhole", Reason.routeBlackhole), ("prohibit", .routeProhibit), ("unreachable", .routeUnreachable),
      ("throw", .noRoute),
    ])
  func refusals(_ type: String, _ reason: Reason) async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("route add \(type) \(remote)\nroute add \(type) \(remote6)")
      return [try await ask.decision(remote), try await ask.decision(remote6)]
    }
    #expect(decisions == [.refused(reason), .refused(reason)])
  }

  @Test(
    "so is that of a rule, but for unreachable, which the kernel tells as no route (K3)", .timeLimit(.minutes(4)),
    arguments: [
      ("blackhole", Reason.routeBlackhole), ("prohibit", .routeProhibit), ("unreachable", .noRoute),
    ])
  func rules(_ type: String, _ reason: Reason) async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("rule add fwmark 7 \(type)")
      try stage.ip6("rule add fwmark 7 \(type)")
      return [
        try await ask.decision(remote, from: .mark(7)), try await ask.decision(remote6, from: .mark(7)),
        try await ask.decision(remote, from: .mark(8)), try await ask.decision(remote6, from: .mark(8)),
      ]
    }
    #expect(decisions == [.refused(reason), .refused(reason), .unicast, .unicast])
  }

  @Test("without any route there is none, and one comes back with its route", .timeLimit(.minutes(4)))
  func noRoute() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("route del default")
      try stage.ip6("route del default")
      let without = [try await ask.decision(remote), try await ask.decision(remote6)]
      try stage.ip("route add default via 192.0.2.254\nroute add default via 2001:db8::fe")
      return without + [try await ask.decision(remote), try await ask.decision(remote6)]
    }
    #expect(decisions == [.refused(.noRoute), .refused(.noRoute), .unicast, .unicast])
  }

  @Test("rules on the user apply to the lookup as to the socket (K13)", .timeLimit(.minutes(4)))
  func userRules() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("rule add uidrange 4242-4242 prohibit")
      let ofAnother = try await ask.decision(remote)
      try stage.ip("rule add uidrange 0-0 prohibit")
      return [ofAnother, try await ask.decision(remote)]
    }
    #expect(decisions == [.unicast, .refused(.routeProhibit)])
  }

  @Test("with IPv6 switched off there is no route in it (K16)", .timeLimit(.minutes(4)))
  func withoutIPv6() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.set("ipv6/conf/all/disable_ipv6", to: "1")
      return [try await ask.decision(remote6), try await ask.decision(.loopback6), try await ask.decision(remote)]
    }
    #expect(decisions == [.refused(.noRoute), .refused(.noRoute), .unicast])
  }

  @Test("no connection goes to a group, to everybody, to nobody or to a link-local address without a link (K1, K15)")
  func addressesOfNobody() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("route add 224.0.0.0/4 dev veth0")
      var decisions: [RouteFinding.Decision] = []
      for address: IPAddress in [
        "0.0.0.0", "::", "224.0.0.1", "ff02::1", "255.255.255.255", "192.0.2.255", "fe80::1",
      ] {
        decisions.append(try await ask.decision(address))
      }
      return decisions
    }
    #expect(decisions.allSatisfy { $0 == .refused(.noRoute) })
  }

  @Test("a link-local address goes out of its zone's interface, or nowhere", .timeLimit(.minutes(4)))
  func zones() async throws {
    let findings = try await withTwoUplinks { _, ask, _ in
      [
        try await ask("fe80::1%veth2"), try await ask("fe80::1%nothere"),
        try await ask("fe80::1%veth2", from: .interface("veth0")),
        try await ask("fe80::1%veth2", from: .interface("veth2")),
      ]
    }
    #expect(
      findings.map(\.decision)
        == [.unicast, .refused(.scopeNoDevice), .refused(.scopeNoRoute), .unicast])
    #expect(findings[0].interface == "veth2")
    #expect(findings[0].isOnLink)
  }
}

func zip3<A, B, C>(_ a: [A], _ b: [B], _ c: [C]) -> [(A, B, C)] { zip(a, zip(b, c)).map { ($0, $1.0, $1.1) } }
