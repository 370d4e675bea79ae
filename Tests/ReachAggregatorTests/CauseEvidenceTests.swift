internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct CauseEvidenceTests {
  private static let server: IPAddress = IPAddress(ipv4: 0xcb00_7135)
  private static let gateway = Cause.gateway(Scene.gateway, interface: "eth0")

  private func evidence(
    _ candidates: [Candidate], of target: Target = Scene.target(), dns: DNSFinding? = nil, lost: String? = nil
  ) -> CauseEvidence? {
    let probes = dns == nil ? Scene.tcpProbes : Scene.allProbes
    let findings = RoundFindings(probes: probes, dns: dns, candidates: candidates)
    return CauseEvidence(Judge.verdict(on: findings, of: target), on: findings, of: target) { lost }
  }

  private func resolution(_ result: DNSFinding.Result, _ ways: [Candidate]) -> CauseEvidence? {
    evidence(
      ways, of: Scene.target(Scene.name),
      dns: DNSFinding(result, addresses: result == .resolved ? [Scene.remote] : [], servers: [Self.server]))
  }

  @Test("A link that is broken is to blame, by its name")
  func links() {
    for state in [LinkFinding.State.down, .noCarrier, .lowerLayerDown, .dormant] {
      let link = Scene.link(.wired, "eth0", 2, state)
      let found = evidence([Scene.way(over: link)])
      #expect(found?.blame == CauseEvidence.Blame(.link("eth0"), link.reason, isDirect: true))
      #expect(found?.usableInterface.isEmpty == true)
    }
  }

  @Test("A tunnel whose own path is broken is to blame, and is not in order because it is up")
  func tunnel() {
    let tunnel = Scene.link(.vpn, "wg0", 9, underlay: .down)
    let found = evidence([Scene.way(over: tunnel)])
    #expect(found?.blame == CauseEvidence.Blame(.link("wg0"), .vpnUnderlayDown, isDirect: true))
    #expect(found?.usableInterface.isEmpty == true)
  }

  @Test("A route that went with its interface is that interface's fault, another one routing's")
  func routes() {
    for reason in [Reason.noRoute, .routeUnreachable, .routeProhibit, .routeBlackhole] {
      #expect(evidence([Scene.refused(reason)], lost: "eth0")?.blame?.cause == .link("eth0"))
      #expect(evidence([Scene.refused(reason)])?.blame?.cause == .route(reason))
    }
    let bound = Scene.target { $0.source.interface = "eth7" }
    #expect(evidence([Scene.refused(.noRoute)], of: bound, lost: "eth7")?.blame?.cause == .link("eth7"))
    #expect(evidence([Scene.refused(.noRoute)], of: bound)?.blame == nil)
    let missing = Candidate(Scene.remote, link: Scene.link(.other, "eth7", 0, .missing))
    #expect(evidence([missing], of: bound)?.blame?.cause == .link("eth7"))
  }

  @Test("Silence beyond a gateway puts it under suspicion, a failed neighbour shows that it is broken")
  func gateways() {
    let found = evidence([Scene.way(.failed(.tcpTimeout))])
    #expect(found?.blame == CauseEvidence.Blame(Self.gateway, .tcpTimeout, isDirect: false))
    #expect(found?.gatewayWord == .silent)
    #expect(found?.usableInterface == "eth0")
    var failed = Scene.way(.failed(.tcpTimeout))
    failed.route?.isNeighbourFailed = true
    #expect(evidence([failed])?.blame == CauseEvidence.Blame(Self.gateway, .neighbourFailed, isDirect: true))
  }

  @Test("An answer by the gateway speaks for it, a refusal too, and also where another address was silent")
  func answers() {
    #expect(evidence([Scene.way(.open)])?.gatewayWord == .works)
    let refused = evidence([Scene.way(.failed(.tcpRefused))])
    #expect(refused?.gatewayWord == .works && refused?.blame == nil)
    let all = Scene.target(Scene.name) { $0.policy.addresses = .all }
    let mixed = evidence(
      [Scene.way(.failed(.tcpTimeout)), Scene.way(to: Scene.second, .open)], of: all,
      dns: DNSFinding(.resolved, addresses: [Scene.remote, Scene.second]))
    #expect(mixed?.gatewayWord == .works && mixed?.blame == nil)
  }

  @Test("A target without a gateway before it that answers speaks for the gateway that it may be to others")
  func gatewayAsTarget() {
    let route = Scene.onLink(over: Scene.wired)
    for result in [TCPFinding.Result.open, .failed(.tcpRefused)] {
      let found = evidence([Candidate(Scene.gateway, route: route, link: Scene.wired, tcp: TCPFinding(result))])
      #expect(found?.gateway == Self.gateway && found?.gatewayWord == .works && found?.blame == nil)
    }
  }

  @Test("Nothing is said of a gateway by what comes by ICMP, a path without a probe, or one of several legs")
  func noWord() {
    for reason in [Reason.tcpHostUnreachable, .tcpNetUnreachable, .tcpAdminProhibited] {
      #expect(evidence([Scene.way(.failed(reason))])?.blame == nil)
      #expect(evidence([Scene.way(.failed(reason))])?.gatewayWord == .nothing)
    }
    var legs = Scene.way(.failed(.tcpTimeout))
    legs.route?.legs = [
      RouteFinding.Leg(interfaceIndex: 2, gateway: Scene.gateway, weight: 1),
      RouteFinding.Leg(interfaceIndex: 2, gateway: Scene.own, weight: 1),
    ]
    #expect(evidence([legs])?.blame == nil)
    let onLink = Candidate(
      Scene.remote, route: Scene.onLink(over: Scene.wired), link: Scene.wired, tcp: TCPFinding(.failed(.tcpTimeout)))
    #expect(evidence([onLink])?.blame == nil)
  }

  @Test("A resolver that fails is suspected, one whose port is closed is to blame, one that denies a name works")
  func resolvers() {
    let way = Scene.way(to: Self.server, role: .resolverPath)
    for reason in [Reason.dnsTimeout, .dnsServFail, .dnsRefused, .dnsTransient, .dnsNotImp] {
      let found = resolution(.failed(reason), [way])
      #expect(found?.blame == CauseEvidence.Blame(.resolver(Self.server), reason, isDirect: false))
      #expect(found?.gatewayWord == (reason == .dnsTimeout || reason == .dnsTransient ? .serverSilent : .works))
    }
    #expect(resolution(.failed(.dnsUnreachable), [way])?.blame?.isDirect == true)
    for reason in [Reason.dnsNXDomain, .dnsNoData] {
      let found = resolution(.failed(reason), [])
      #expect(found?.blame == nil && found?.serverWord == .works)
    }
    #expect(resolution(.resolved, [Scene.way(.open)])?.serverWord == .works)
    let broken = Scene.way(to: Self.server, over: Scene.link(.wired, "eth0", 2, .noCarrier), role: .resolverPath)
    #expect(resolution(.failed(.dnsTimeout), [broken])?.blame?.cause == .link("eth0"))
  }

  @Test("An answer from memory says nothing of the server; one past its time says that it is silent")
  func memory() {
    let name = Scene.target(Scene.name)
    let cached = evidence(
      [Scene.way(.open)], of: name, dns: DNSFinding(.resolved, addresses: [Scene.remote], isCached: true))
    #expect(cached?.servers.isEmpty == true && cached?.serverWord == .nothing)
    let stale = evidence(
      [Scene.way(.open)], of: name,
      dns: DNSFinding(.failed(.dnsTimeout), addresses: [Scene.remote], isStale: true, servers: [Self.server]))
    #expect(stale?.serverWord == .silent && stale?.blame == nil && stale?.gatewayWord == .works)
  }

  @Test("A verdict that says nothing is no evidence")
  func nothing() {
    #expect(evidence([]) == nil)
    #expect(evidence([Scene.way(.fault(Scene.noDescriptors))]) == nil)
  }

  @Test("Causes have names that stay")
  func names() {
    #expect(Cause.link("eth0").description == "link:eth0")
    #expect(Self.gateway.description == "gateway:198.51.100.254")
    #expect(Cause.resolver(Self.server).description == "resolver:203.0.113.53")
    #expect(Cause.route(.noRoute).description == "route:no_route")
    let near = IPAddress(ipv6High: 0xfe80 << 48, low: 1)
    #expect(Cause.gateway(near, interface: "eth0").description == "gateway:fe80::1%eth0")
  }
}
