internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct JudgePathTests {
  @Test(
    "A link that is broken decides, whatever the route, and whatever came of connecting",
    arguments: [
      (LinkFinding.State.down, "link_down"), (.noCarrier, "carrier_lost"), (.lowerLayerDown, "link_lower_down"),
      (.missing, "interface_missing"),
    ])
  func brokenLink(_ state: LinkFinding.State, _ reason: String) {
    let link = Scene.link(.wired, "eth0", 2, state)
    for tcp in [TCPFinding.Result.failed(.tcpTimeout), .open, .fault(Scene.noDescriptors), .notRun] {
      #expect(Scene.judge([Scene.way(over: link, tcp)]).summary == "-- ------- \(reason)")
    }
  }

  @Test("Of several next hops the one that is named is the one whose link is broken")
  func brokenNextHop() {
    var route = Scene.route(over: Scene.wired)
    route.legs = [Scene.wired, Scene.wireless].map {
      RouteFinding.Leg(interfaceIndex: $0.index, gateway: $0 == Scene.wired ? Scene.gateway : Scene.second, weight: 1)
    }
    let broken = Scene.link(.wifi, "wlan0", 3, .noCarrier)
    let verdict = Scene.judge([Candidate(Scene.remote, route: route, link: broken)])
    #expect(verdict.summary == "-- ------- carrier_lost")
    #expect(verdict.path.interface == "wlan0")
    #expect(verdict.path.interfaceIndex == 3)
    #expect(verdict.path.gateway == Scene.second)
    let whole = Scene.judge([Candidate(Scene.remote, route: route, link: Scene.wireless)], probes: Scene.pathProbes)
    #expect(whole.path.interface == "eth0")
  }

  @Test("A broken cellular link keeps W and nothing else")
  func brokenCellular() {
    let link = Scene.link(.wwan, "wwan0", 4, .noCarrier)
    #expect(Scene.judge([Scene.way(over: link)]).summary == "W- ------- carrier_lost")
  }

  @Test("A dormant link needs a connection first, and an open port does not change that")
  func dormant() {
    let link = Scene.link(.wired, "eth0", 2, .dormant)
    #expect(Scene.judge([Scene.way(over: link, .open)]).summary == "-R -c----- link_dormant")
  }

  @Test("A tunnel whose own path is down is not reachable, though packets enter it")
  func underlayDown() {
    let link = Scene.link(.vpn, "wg0", 5, underlay: .down)
    let verdict = Scene.judge([Scene.way(over: link, .open)])
    #expect(verdict.summary == "-R tc----- vpn_underlay_down")
    #expect(verdict.status == .notReachable)
  }

  @Test("What the lookup refuses is refused, and connecting is not believed over it")
  func refusals() {
    for reason in [Reason.noRoute, .routeUnreachable, .routeProhibit, .routeBlackhole, .localAddressMissing] {
      var candidate = Scene.refused(reason)
      candidate.tcp = TCPFinding(.refusedLocally(FaultCode(errno: 101)))
      #expect(Scene.judge([candidate]).summary == "-- ------- \(reason)")
    }
  }

  @Test("No route over the interface that was asked for is said so, and nothing stands by for it")
  func scoped() {
    let target = Scene.target { $0.source.interface = "eth1" }
    let standby = Circumstances(standby: Circumstances.Standby(medium: .ppp, isOnTraffic: true))
    let verdict = Scene.judge([Scene.refused(.noRoute)], of: target, probes: Scene.pathProbes, standby)
    #expect(verdict.summary == "-- ------- scope_no_route")
  }

  @Test("An interface to bind to that is missing is the reason, seen by whichever probe")
  func missingDevice() {
    let target = Scene.target { $0.source.interface = "eth9" }
    let missing = Scene.link(.other, "eth9", 0, .missing)
    for candidate in [
      Scene.refused(.scopeNoDevice), Candidate(Scene.remote, link: missing),
      Candidate(Scene.remote, route: RouteFinding(.fault(FaultCode(errno: 19))), link: missing),
    ] {
      #expect(Scene.judge([candidate], of: target).summary == "-- ------- scope_no_device")
    }
    let lan = Scene.target(.linkLocal(interface: "eth9"))
    #expect(Scene.judge([Candidate(nil, link: missing)], of: lan).reason == .scopeNoDevice)
  }

  @Test("A service that stands by tells whether traffic, a person or nothing but a call brings it up")
  func standby() {
    let cases: [(Circumstances.Standby, String)] = [
      (.init(medium: .ppp), "-R tc----- connection_required"),
      (.init(medium: .wwan), "WR tc----- connection_required"),
      (.init(medium: .ppp, isOnTraffic: true), "-R tcC---- on_traffic"),
      (.init(medium: .ppp, isOnTraffic: true, needsIntervention: true), "-R tcCi--- intervention_required"),
      (.init(medium: .wwan, needsIntervention: true), "WR tc-i--- intervention_required"),
    ]
    for (service, summary) in cases {
      let verdict = Scene.judge([Scene.refused(.noRoute)], Circumstances(standby: service))
      #expect(verdict.summary == summary)
    }
    let other = Scene.judge([Scene.refused(.routeProhibit)], Circumstances(standby: .init(medium: .ppp)))
    #expect(other.summary == "-- ------- route_prohibit")
  }

  @Test("A portal does not stand before this host's own addresses or its neighbours")
  func portal() {
    let portal = Circumstances(isCaptivePortal: true)
    #expect(Scene.judge([Scene.way(.open)], portal).summary == "-R -c-i--- captive_portal")
    let neighbour = Candidate(
      Scene.remote, route: Scene.onLink(over: Scene.wired), link: Scene.wired, tcp: TCPFinding(.open))
    #expect(Scene.judge([neighbour], portal).summary == "-R ------d tcp_open")
  }

  @Test("A link that is broken is a fact though the route could not be asked for")
  func factBesideFault() {
    let fault = LocalFault(.probeError(Scene.noDescriptors))
    let broken = Candidate(Scene.remote, link: Scene.link(.wired, "eth0", 2, .noCarrier))
    #expect(Scene.judge([broken], fault: fault).summary == "-- ------- carrier_lost")
    let fine = Candidate(Scene.remote, link: Scene.wired)
    #expect(Scene.judge([fine], fault: fault).summary == "?? ??????? probe_error:EMFILE")
  }

  @Test("Evidence that a probe has yet to leave makes the verdict Unknown")
  func missingEvidence() {
    let routed = Candidate(Scene.remote, route: Scene.route(over: Scene.wired))
    #expect(Scene.judge([Candidate(Scene.remote)]).summary == "?? ??????? not_probed")
    #expect(Scene.judge([routed]).summary == "?? ??????? not_probed")
    #expect(Scene.judge([Scene.way()]).summary == "?? ??????? not_probed")
    #expect(Scene.judge([]).summary == "?? ??????? not_probed")
    #expect(Scene.judge([], fault: LocalFault(.backendMissing)).summary == "?? ??????? backend_missing")
    #expect(Scene.judge([Scene.way(.open)], fault: LocalFault(.backendMissing)).summary == "?? ??????? backend_missing")
    #expect(Scene.judge([Scene.refused(.noRoute)], fault: LocalFault(.backendMissing)).summary == "-- ------- no_route")
    #expect(Scene.judge([Scene.way()], fault: LocalFault(.backendOverran)).summary == "?? ??????? backend_overran")
  }

  @Test("A target that runs few probes is judged by those")
  func fewProbes() {
    let linkOnly = Candidate(Scene.remote, link: Scene.wired)
    #expect(Scene.judge([linkOnly], probes: .link).summary == "-R ------- interface_up")
    #expect(Scene.judge([Scene.way()], probes: .route).summary == "-R ------- route_ok")
    let tcpOnly = Candidate(Scene.remote, tcp: TCPFinding(.open))
    #expect(Scene.judge([tcpOnly], probes: .tcp).summary == "-R ------- tcp_open")
  }

  @Test("An address that no peer can have is a bad target, not one that is down")
  func badAddress() {
    for address in [
      IPAddress(ipv4: 0), IPAddress(ipv4: 0xe000_0001), IPAddress(ipv4: 0xffff_ffff),
      IPAddress(ipv6High: 0xfe80 << 48, low: 1), IPAddress(ipv6High: 0xff02 << 48, low: 1),
    ] {
      #expect(Scene.judge([Scene.way(to: address, .open)]).summary == "?? ??????? bad_target")
    }
    let scoped = IPAddress(ipv6High: 0xfe80 << 48, low: 1, zone: "eth0")
    #expect(Scene.judge([Scene.way(to: scoped, .open)]).summary == "-R ------- tcp_open")
  }

  @Test("The path is that of the way that decided")
  func path() {
    let path = Scene.judge([Scene.way(.open)]).path
    let expected = ReachabilityPath(
      interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: Scene.gateway, source: Scene.own,
      address: Scene.remote)
    #expect(path == expected)
    #expect(Scene.judge([Scene.refused(.noRoute)]).path == ReachabilityPath(address: Scene.remote))
  }
}

@Suite struct JudgeKindTests {
  private func interface(_ link: LinkFinding?, probes: ProbeSet = .link) -> Verdict {
    Scene.judge([Candidate(nil, link: link)], of: Scene.target(.interface("x0")), probes: probes)
  }

  @Test("An interface is judged by its link alone")
  func interfaces() {
    #expect(interface(Scene.wired).summary == "-R ------- interface_up")
    #expect(interface(Scene.cellular).summary == "WR t------ interface_up")
    #expect(interface(Scene.link(.loopback, "lo", 1)).summary == "-R -----l- interface_up")
    #expect(interface(Scene.link(.vpn, "wg0", 5, underlay: .cellular)).summary == "WR t------ interface_up")
    #expect(interface(Scene.link(.vpn, "wg0", 5, underlay: .down)).summary == "-R tc----- vpn_underlay_down")
    #expect(interface(Scene.link(.wired, "eth0", 2, .dormant)).summary == "-R -c----- link_dormant")
    #expect(interface(Scene.link(.wwan, "wwan0", 2, .noCarrier)).summary == "W- ------- carrier_lost")
    #expect(interface(Scene.link(.other, "x0", 0, .missing)).summary == "-- ------- interface_missing")
    #expect(interface(nil).summary == "?? ??????? not_probed")
    #expect(interface(Scene.wired, probes: Scene.allProbes).summary == "-R ------- interface_up")
    #expect(interface(Scene.wired).path == ReachabilityPath(interface: "eth0", interfaceIndex: 2, medium: .wired))
  }

  @Test("The default path has neither l nor d, nor an address of its own")
  func defaultPath() {
    let target = Scene.target(.defaultPath)
    let onLink = Candidate(Scene.remote, route: Scene.onLink(over: Scene.wired), link: Scene.wired)
    let local = Candidate(
      Scene.second, route: RouteFinding(.local, interfaceIndex: 1, interface: "lo", isOnLink: true),
      link: Scene.link(.loopback, "lo", 1))
    for candidate in [onLink, local] {
      let verdict = Scene.judge([candidate], of: target, probes: Scene.pathProbes)
      #expect(verdict.summary == "-R ------- route_ok")
      #expect(verdict.addresses.isEmpty)
      #expect(verdict.path.address == nil)
    }
  }

  @Test("Of two default paths that are as good, that of IPv4 speaks; a better one goes first")
  func defaultFamilies() {
    let target = Scene.target(.defaultPath)
    let six = Scene.way(to: IPAddress(ipv6High: 0x2001 << 48, low: 1), over: Scene.wireless)
    let four = Scene.way(over: Scene.wired)
    #expect(Scene.judge([six, four], of: target, probes: Scene.pathProbes).path.interface == "eth0")
    let verdict = Scene.judge([six, Scene.refused(.noRoute)], of: target, probes: Scene.pathProbes)
    #expect(verdict.path.interface == "wlan0")
    #expect(verdict.status == .reachableViaWiFi)
  }

  @Test("A link-local target is direct over wired and Wi-Fi, which its rule asks for, and not over cellular")
  func linkLocal() {
    let target = Scene.target(.linkLocal(interface: "eth0")) { $0.policy.statusRule = .localwifi }
    let wired = Scene.judge([Scene.way(to: nil)], of: target, probes: Scene.pathProbes)
    #expect(wired.summary == "-R ------d route_ok")
    #expect(wired.status == .reachableViaWiFi)
    let cellular = Scene.judge([Scene.way(to: nil, over: Scene.cellular)], of: target, probes: Scene.pathProbes)
    #expect(cellular.summary == "WR t------ route_ok")
    #expect(cellular.status == .notReachable)
  }

  @Test("A pair without its local half is not reachable, however good the remote half looks")
  func pair() {
    let target = Scene.target(.pair(local: Scene.own, remote: Scene.remote))
    #expect(
      Scene.judge([Scene.refused(.localAddressMissing)], of: target).summary == "-- ------- local_address_missing")
    #expect(Scene.judge([Scene.way(.open)], of: target).summary == "-R ------- tcp_open")
  }
}
