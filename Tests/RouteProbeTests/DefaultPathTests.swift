import ReachCore
import ReachTestSupport
import Testing

/// The default path, which IPv4 is asked about by addresses that stand for it (K1).
@Suite(.enabled(if: canStage, whyNot)) struct DefaultPathTests {
  static let candidates = [Candidate("9.9.9.9"), Candidate("203.0.113.1"), Candidate("::")]

  @Test("a default route counts in each family", .timeLimit(.minutes(4)))
  func present() async throws {
    let findings = try await withGateway { _, ask, _ in try await ask(.defaultPath, Self.candidates) }
    #expect(findings.map(\.decision) == [.unicast, .unicast, .unicast])
    #expect(findings.map(\.interface) == ["veth0", "veth0", "veth0"])
    #expect(findings.map(\.gateway) == [StageAddress.gateway, StageAddress.gateway, StageAddress.gateway6])
  }

  @Test("without one there is none, though the kernel takes 0.0.0.0 for this host (K1)", .timeLimit(.minutes(4)))
  func absent() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("route del default")
      try stage.ip6("route del default")
      return try await ask(.defaultPath, Self.candidates + [Candidate("0.0.0.0")]).map(\.decision)
    }
    #expect(decisions.allSatisfy { $0 == .refused(.noRoute) })
  }

  @Test("a route to a part of the space says nothing of the default", .timeLimit(.minutes(4)))
  func representativesOfLess() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("route del default\nroute add 9.0.0.0/8 via 192.0.2.254\nroute add 192.0.0.0/2 via 192.0.2.254")
      try stage.ip6("route del default\nroute add ::/96 via 2001:db8::fe")
      return try await ask(.defaultPath, Self.candidates).map(\.decision)
    }
    #expect(decisions == [.refused(.noRoute), .refused(.noRoute), .refused(.noRoute)])
  }

  @Test("a default in two halves is one (K22)", .timeLimit(.minutes(4)))
  func split() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("route del default\nroute add 0.0.0.0/1 via 192.0.2.254\nroute add 128.0.0.0/1 via 192.0.2.254")
      try stage.ip6("route del default\nroute add ::/1 via 2001:db8::fe\nroute add 8000::/1 via 2001:db8::fe")
      return try await ask(.defaultPath, Self.candidates).map(\.decision)
    }
    #expect(decisions == [.unicast, .unicast, .unicast])
  }

  @Test("a default that refuses is refused by its type", .timeLimit(.minutes(4)))
  func refusing() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("route replace prohibit default")
      try stage.ip6("route del default\nroute add unreachable default")
      return try await ask(.defaultPath, Self.candidates).map(\.decision)
    }
    #expect(decisions == [.refused(.routeProhibit), .refused(.routeProhibit), .refused(.routeUnreachable)])
  }

  @Test("one over another interface is no default over this one", .timeLimit(.minutes(4)))
  func scoped() async throws {
    let decisions = try await withTwoUplinks { _, ask, _ in
      let there = try await ask(.defaultPath, Self.candidates, from: .interface("veth0"))
      let here = try await ask(.defaultPath, Self.candidates, from: .interface("veth2"))
      return (there + here).map(\.decision)
    }
    #expect(
      decisions
        == [.unicast, .unicast, .unicast, .refused(.scopeNoRoute), .refused(.scopeNoRoute), .refused(.scopeNoRoute)])
  }

  @Test("the way to a resolver that nobody knows is the default path", .timeLimit(.minutes(4)))
  func resolverPath() async throws {
    let findings = try await withGateway { stage, ask, _ in
      try stage.ip("route del default\nroute add 9.9.9.9 via 192.0.2.254")
      let name = Target.Kind.host(HostName(query: "name.example", display: "name.example"))
      let standIns = try await ask(
        name, [Candidate("9.9.9.9", role: .resolverPath), Candidate("::", role: .resolverPath)])
      return standIns + (try await ask(name, [Candidate("9.9.9.9", role: .resolverPath)]))
    }
    #expect(findings.map(\.decision) == [.refused(.noRoute), .unicast, .unicast])
  }
}
