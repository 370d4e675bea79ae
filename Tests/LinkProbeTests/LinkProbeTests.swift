import LinkProbe
import ReachCore
import ReachNetlink
import ReachProbe
import ReachTestSupport
import Testing

@Suite struct LinkProbeOptionTests {
  @Test("the registration names the layer and the one option")
  func registers() {
    #expect(LinkProbe.registration.name == "link")
    #expect(LinkProbe.registration.layer == .link)
    #expect(LinkProbe.registration.options.map(\.name) == ["interface"])
    #expect(LinkProbe.registration.options.allSatisfy { $0.defaultValue == nil })
  }

  @Test(
    "a name that no interface can have is refused with what to write instead", .timeLimit(.minutes(4)),
    arguments: ["", "eth 0", "a/b", ".", "..", "eth0\n", String(repeating: "x", count: 128)])
  func refusesNames(name: String) async throws {
    let failure = try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      do throws(OptionError) {
        _ = try LinkProbe.registration.make(OptionValues(["interface": .string(name)]), host)
        return OptionError?.none
      } catch {
        return error
      }
    }
    #expect(failure?.option == "interface")
    #expect(failure?.message.contains("ip link") == true)
  }
}

@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct LinkProbeTests {
  /// What the probe sees, with these options, of a target with these candidates.
  private func see(
    _ host: ProbeHost, _ kind: Target.Kind, _ candidates: [Candidate], interface: String? = nil
  ) async throws -> [LinkFinding?] {
    let options = interface.map { ["interface": OptionValue.string($0)] } ?? [:]
    let probe = try LinkProbe.registration.make(OptionValues(options), host)
    let evidence = try await probe.probe(Target(name: "t", kind: kind), in: host.context(candidates))
    guard case .link(let findings) = evidence else {
      Issue.record("not evidence of the link: \(evidence)")
      return []
    }
    return findings
  }

  private func route(_ host: ProbeHost, to address: IPAddress) -> RouteFinding {
    guard case .route(let route) = host.netlink.lookup(RouteQuery(destination: address)) else {
      return RouteFinding(.refused(.noRoute))
    }
    return RouteFinding(.unicast, interfaceIndex: route.outputInterface)
  }

  @Test("each candidate's egress interface is seen, in order; one without a route has none")
  func followsRoutes() async throws {
    try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let host = try ProbeHost.onThisLoop(loop)
      defer { host.links.stop() }
      let inbox = ChangeInbox(host.links, on: loop)
      try await inbox.until { host.links.finding(named: "veth0").state == .usable }
      let candidates = [
        Candidate(StageAddress.server, route: route(host, to: StageAddress.server)),
        Candidate("203.0.113.1", route: RouteFinding(.refused(.noRoute))),
        Candidate("203.0.113.2"),
        Candidate("127.0.0.1", route: route(host, to: "127.0.0.1")),
      ]
      let findings = try await see(host, .address(StageAddress.server), candidates)
      #expect(findings.map { $0?.interface } == ["veth0", nil, nil, "lo"])
      #expect(findings.map { $0?.state } == [.usable, nil, nil, .usable])
      #expect(try await see(host, .address(StageAddress.server), []).isEmpty)
    }
  }

  @Test("a lost carrier is seen as soon as the kernel has told of it")
  func seesCarrier() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let host = try ProbeHost.onThisLoop(loop)
      defer { host.links.stop() }
      let inbox = ChangeInbox(host.links, on: loop)
      let candidate = Candidate(StageAddress.server, route: route(host, to: StageAddress.server))
      try gateway.ip("link set veth1 down")
      try await inbox.until { host.links.finding(named: "veth0").state == .noCarrier }
      let findings = try await see(host, .address(StageAddress.server), [candidate])
      #expect(findings.first??.state == .noCarrier)
      #expect(findings.first??.reason == .carrierLost)
    }
  }

  @Test("a target that is an interface, or the network of one, is that interface; one that does not exist is missing")
  func seesNamedTargets() async throws {
    try await withNetworkNamespace { loop, stage in
      try stage.ip("link add va type veth peer name vb")
      let host = try ProbeHost.onThisLoop(loop)
      defer { host.links.stop() }
      let named = try await see(host, .interface("va"), [Candidate(nil)])
      #expect(named.map { $0?.state } == [.down])
      let network = try await see(host, .linkLocal(interface: "lo"), [Candidate("169.254.0.0")])
      #expect(network.map { $0?.medium } == [.loopback])
      let missing = try await see(host, .interface("wwan9"), [Candidate(nil)])
      #expect(
        missing == [LinkFinding(interface: "wwan9", index: 0, medium: .other, state: .missing)])
      #expect(missing.first??.reason == .interfaceMissing)
    }
  }

  @Test("the option's interface is seen for every candidate, whatever the routes and the target say")
  func seesOption() async throws {
    try await withNetworkNamespace { loop, _ in
      let host = try ProbeHost.onThisLoop(loop)
      defer { host.links.stop() }
      let candidates = [Candidate("192.0.2.1", route: RouteFinding(.refused(.noRoute))), Candidate("192.0.2.2")]
      let findings = try await see(host, .interface("eth9"), candidates, interface: "lo")
      #expect(findings.map { $0?.interface } == ["lo", "lo"])
    }
  }
}
