internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct JudgeConnectionTests {
  private func judge(_ tcp: TCPFinding.Result, _ policy: TargetPolicy.TCP = .service) -> String {
    Scene.judge([Scene.way(tcp)], of: Scene.target { $0.policy.tcp = policy }).summary
  }

  @Test("An open port is reachable, a refused one only where the host is what was asked for")
  func policies() {
    #expect(judge(.open) == "-R ------- tcp_open")
    #expect(judge(.failed(.tcpRefused)) == "-- ------- tcp_refused")
    #expect(judge(.failed(.tcpRefused), .host) == "-R ------- tcp_refused")
    #expect(judge(.failed(.tcpTimeout), .host) == "-- ------- tcp_timeout")
  }

  @Test("Advisory connections decide nothing, not even by failing to be made")
  func advisory() {
    for result in [
      TCPFinding.Result.open, .failed(.tcpRefused), .failed(.tcpTimeout), .fault(Scene.noDescriptors), .notRun,
    ] {
      #expect(judge(result, .advisory) == "-R ------- route_ok")
    }
    let target = Scene.target { $0.policy.tcp = .advisory }
    let fault = LocalFault(.backendOverran)
    #expect(Scene.judge([Scene.way()], of: target, fault: fault).summary == "-R ------- route_ok")
  }

  @Test("Each way of getting no answer keeps its name")
  func failures() {
    for reason in [Reason.tcpTimeout, .tcpHostUnreachable, .tcpNetUnreachable, .tcpAdminProhibited] {
      #expect(judge(.failed(reason)) == "-- ------- \(reason)")
    }
  }

  @Test("A next hop without a neighbour entry explains silence, and nothing else")
  func neighbour() {
    func judge(_ reason: Reason) -> Reason {
      let route = Scene.route(over: Scene.wired, isNeighbourFailed: true)
      let candidate = Candidate(Scene.remote, route: route, link: Scene.wired, tcp: TCPFinding(.failed(reason)))
      return Scene.judge([candidate]).reason
    }
    #expect(judge(.tcpTimeout) == .neighbourFailed)
    #expect(judge(.tcpHostUnreachable) == .neighbourFailed)
    #expect(judge(.tcpRefused) == .tcpRefused)
    #expect(judge(.tcpAdminProhibited) == .tcpAdminProhibited)
  }

  @Test("This host's own trouble is Unknown, never down")
  func faults() {
    #expect(judge(.fault(Scene.noDescriptors)) == "?? ??????? probe_error:EMFILE")
    #expect(judge(.refusedLocally(FaultCode(errno: 99))) == "?? ??????? probe_error:EADDRNOTAVAIL")
    #expect(judge(.refusedLocally(FaultCode(errno: 101))) == "?? ??????? probe_error:ENETUNREACH")
    #expect(judge(.notRun) == "?? ??????? not_probed")
  }

  @Test("Without a route probe, connect's own routing errors are the routing decision")
  func connectAsLookup() {
    func judge(_ number: Int32, _ target: Target = Scene.target()) -> String {
      let candidate = Candidate(Scene.remote, tcp: TCPFinding(.refusedLocally(FaultCode(errno: number))))
      return Scene.judge([candidate], of: target, probes: .tcp).summary
    }
    #expect(judge(101) == "-- ------- no_route")
    #expect(judge(101, Scene.target { $0.source.interface = "eth1" }) == "-- ------- scope_no_route")
    #expect(judge(113) == "-- ------- route_unreachable")
    #expect(judge(13) == "?? ??????? probe_error:EACCES")
  }
}

@Suite struct JudgeAddressTests {
  private let all = Scene.target(Scene.name) { $0.policy.addresses = .all }
  private let any = Scene.target(Scene.name)

  private func judge(_ candidates: [Candidate], of target: Target, probes: ProbeSet = Scene.allProbes) -> Verdict {
    let dns = DNSFinding(.resolved, addresses: candidates.compactMap(\.address))
    return Scene.judge(candidates, of: target, probes: probes, dns: dns)
  }

  @Test("One address that answers is enough, and every address is listed with its own reason")
  func oneIsEnough() {
    let verdict = judge(
      [Scene.way(.failed(.tcpTimeout)), Scene.way(to: Scene.second, over: Scene.wireless, .open)], of: any)
    #expect(verdict.summary == "-R ------- tcp_open")
    #expect(verdict.path.address == Scene.second)
    let listed = [
      AddressVerdict(address: Scene.remote, state: .unreachable, reason: .tcpTimeout),
      AddressVerdict(address: Scene.second, state: .reachable, reason: .tcpOpen),
    ]
    #expect(verdict.addresses == listed)
  }

  @Test("Of two that answer the first decides, whatever its medium")
  func firstWins() {
    let verdict = judge(
      [Scene.way(over: Scene.cellular, .open), Scene.way(to: Scene.second, .open)], of: any)
    #expect(verdict.status == .reachableViaWWAN)
    #expect(verdict.path.address == Scene.remote)
  }

  @Test("While one was not tested and none answers, nothing is known")
  func untested() {
    let failed = Scene.way(.failed(.tcpTimeout))
    let faulty = Scene.way(to: Scene.second, .fault(Scene.noDescriptors))
    #expect(judge([failed, faulty], of: any).summary == "?? ??????? probe_error:EMFILE")
    #expect(judge([Scene.way(.notRun), faulty], of: any).summary == "?? ??????? probe_error:EMFILE")
    let verdict = judge([failed, Scene.way(to: Scene.second, .notRun)], of: any)
    #expect(verdict.summary == "?? ??????? not_probed")
    #expect(verdict.addresses.map(\.state) == [.unreachable, .untested])
  }

  @Test("When all failed, the one that got furthest names the reason, the first of equals")
  func furthest() {
    let lost = Scene.way(over: Scene.link(.wired, "eth0", 2, .noCarrier))
    #expect(judge([Scene.refused(.noRoute), lost], of: any).reason == .carrierLost)
    #expect(judge([lost, Scene.way(.failed(.tcpTimeout))], of: any).reason == .tcpTimeout)
    #expect(
      judge([Scene.way(.failed(.tcpRefused)), Scene.way(.failed(.tcpTimeout))], of: any).reason == .tcpRefused)
  }

  @Test("A better rank goes before an earlier place")
  func rank() {
    let dormant = Scene.way(over: Scene.link(.wired, "eth0", 2, .dormant))
    #expect(judge([Scene.refused(.noRoute), dormant], of: any).reason == .linkDormant)
    #expect(judge([dormant, Scene.way(.open)], of: any).reason == .tcpOpen)
  }

  @Test("Under localwifi an address next door counts before one behind a gateway")
  func localWiFi() {
    let target = Scene.target(Scene.name) { $0.policy.statusRule = .localwifi }
    let near = Candidate(Scene.second, route: Scene.onLink(over: Scene.wired), link: Scene.wired)
    let verdict = judge([Scene.way(), near], of: target, probes: Scene.nameProbes)
    #expect(verdict.summary == "-R ------d route_ok")
    #expect(verdict.addresses.map(\.state) == [.unreachable, .reachable])
  }

  @Test("Where every address must answer, the first that fails decides, and a fault only where none fails")
  func every() {
    let open = Scene.way(.open)
    let timeout = Scene.way(to: Scene.second, .failed(.tcpTimeout))
    let faulty = Scene.way(.fault(Scene.noDescriptors))
    #expect(judge([open, Scene.way(to: Scene.second, .open)], of: all).summary == "-R ------- tcp_open")
    let verdict = judge([open, Scene.refused(.noRoute), timeout], of: all)
    #expect(verdict.summary == "-- ------- no_route")
    #expect(judge([faulty, open, timeout], of: all).summary == "-- ------- tcp_timeout")
    #expect(judge([open, faulty], of: all).summary == "?? ??????? probe_error:EMFILE")
  }

  @Test("An address that nobody can have is no address of a name")
  func sinkhole() {
    let nobody = Scene.way(to: IPAddress(ipv4: 0), .open)
    let verdict = judge([nobody], of: any)
    #expect(verdict.summary == "-- ------- dns_nodata")
    #expect(verdict.addresses.map(\.state) == [.unreachable])
    #expect(judge([nobody, Scene.way(.open)], of: any).summary == "-R ------- tcp_open")
    #expect(judge([nobody, Scene.way(.failed(.tcpTimeout))], of: any).summary == "-- ------- tcp_timeout")
    #expect(judge([Scene.way(.open), nobody], of: all).summary == "-- ------- dns_nodata")
  }
}
