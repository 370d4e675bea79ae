import ReachCore
import ReachIO
import ReachTestSupport
import Testing

/// Routes with several next hops.
@Suite(.enabled(if: canStage, whyNot)) struct MultipathTests {
  @Test("all next hops are listed, with the one the packet would take in front of them", .timeLimit(.minutes(4)))
  func legs() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      try stage.set("ipv4/fib_multipath_hash_policy", to: "1")
      try stage.set("ipv6/fib_multipath_hash_policy", to: "1")
      try stage.ip(
        """
        route add 203.0.113.0/24 nexthop via 192.0.2.254 weight 3 nexthop via 198.51.100.254
        route add 2001:db8:ffff::/64 nexthop via 2001:db8::fe nexthop via 2001:db8:1::fe
        """)
      return [try await ask(remote), try await ask(remote6)]
    }
    for (finding, gateways) in zip(
      findings, [[StageAddress.gateway, "198.51.100.254"], [StageAddress.gateway6, "2001:db8:1::fe"]])
    {
      #expect(finding.decision == .unicast)
      #expect(!finding.isOnLink)
      #expect(Set(finding.legs.map(\.gateway)) == Set(gateways))
      #expect(finding.legs.contains { $0.gateway == finding.gateway && $0.interfaceIndex == finding.interfaceIndex })
      #expect(finding.source != nil)
    }
    #expect(findings[0].legs.map(\.weight) == [3, 1])
  }

  @Test(
    "by default every connection to an address takes one next hop, which is the one that is found",
    .timeLimit(.minutes(4)))
  func chosenLeg() async throws {
    let (findings, taken) = try await withTwoUplinks { stage, ask, _ in
      try stage.ip("route add 203.0.113.0/24 nexthop via 192.0.2.254 nexthop via 198.51.100.254")
      var findings: [RouteFinding] = []
      var taken: [IPAddress?] = []
      for host in 1...32 {
        let address = IPAddress(ipv4: 0xcb00_7100 + UInt32(host))
        findings.append(try await ask(address))
        let socket = try connecting(to: address, 9)
        taken.append(Socket(number: socket.number).localAddress?.address)
      }
      return (findings, taken)
    }
    #expect(findings.allSatisfy { $0.legs.isEmpty })
    #expect(Set(findings.map(\.interface)) == ["veth0", "veth2"])
    // Each uplink has a source of its own, which tells by which one the kernel sent.
    #expect(findings.map(\.source) == taken)
  }

  @Test("on-link is a route all of whose next hops are", .timeLimit(.minutes(4)))
  func onLinkLegs() async throws {
    let finding = try await withTwoUplinks { stage, ask, _ in
      try stage.set("ipv4/fib_multipath_hash_policy", to: "1")
      try stage.ip("route add 203.0.113.0/24 nexthop dev veth0 nexthop dev veth2")
      return try await ask(remote)
    }
    #expect(finding.isOnLink)
    #expect(finding.legs.count == 2)
  }

  @Test("a next hop without carrier stays in the running, one that is down does not (K12)", .timeLimit(.minutes(4)))
  func deadLegs() async throws {
    let (unplugged, down) = try await withTwoUplinks { stage, ask, second in
      try stage.set("ipv4/fib_multipath_hash_policy", to: "1")
      try stage.ip("route add 203.0.113.0/24 nexthop via 192.0.2.254 nexthop via 198.51.100.254")
      try second.ip("link set veth3 down")
      try stage.host.awaitLink("veth2", showing: "NO-CARRIER", "state DOWN")
      let unplugged = try await ask(remote)
      try stage.ip("link set veth2 down")
      return (unplugged, try await ask(remote))
    }
    #expect(unplugged.legs.map(\.isDead) == [false, false])
    #expect(down.legs.map(\.isDead) == [false, true])
    #expect(down.interface == "veth0")
  }

  @Test("scoped to an interface only the next hops over it count", .timeLimit(.minutes(4)))
  func scopedLegs() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      try stage.ip(
        """
        route add 203.0.113.0/24 nexthop via 192.0.2.254 nexthop via 198.51.100.254
        route add 2001:db8:ffff::/64 nexthop via 2001:db8::fe nexthop via 2001:db8:1::fe
        """)
      return [
        try await ask(remote, from: .interface("veth2")), try await ask(remote6, from: .interface("veth2")),
      ]
    }
    #expect(findings.map(\.interface) == ["veth2", "veth2"])
    #expect(findings.map(\.gateway) == ["198.51.100.254", "2001:db8:1::fe"])
    #expect(findings.map(\.legs.isEmpty) == [true, true])
  }

  @Test("next hops that are objects count like others, and take their routes with them (K9)", .timeLimit(.minutes(4)))
  func nexthopObjects() async throws {
    let findings = try await withTwoUplinks { stage, ask, _ in
      try stage.set("ipv4/fib_multipath_hash_policy", to: "1")
      try stage.ip(
        """
        nexthop add id 1 via 192.0.2.254 dev veth0
        nexthop add id 2 via 198.51.100.254 dev veth2
        nexthop add id 3 group 1/2
        route add 203.0.113.0/24 nhid 3
        route del default
        """)
      let group = try await ask(remote)
      try stage.ip("route replace 203.0.113.0/24 nhid 2")
      let single = try await ask(remote)
      try stage.ip("nexthop del id 2")
      return [group, single, try await ask(remote)]
    }
    #expect(findings.map(\.decision) == [.unicast, .unicast, .refused(.noRoute)])
    #expect(findings[0].legs.count == 2)
    #expect(findings[1].gateway == "198.51.100.254")
    #expect(findings[1].interface == "veth2")
  }
}
