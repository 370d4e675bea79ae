internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct JudgeNameTests {
  private func judge(
    _ dns: DNSFinding?, _ candidates: [Candidate] = [Scene.way(to: nil, role: .resolverPath)],
    fault: LocalFault? = nil, beside circumstances: Circumstances = Circumstances()
  ) -> Verdict {
    Scene.judge(
      candidates, of: Scene.target(Scene.name), probes: Scene.allProbes, dns: dns, fault: fault, circumstances)
  }

  @Test("A name that is still being resolved is Unknown, not up")
  func pending() {
    #expect(judge(nil, []).summary == "?? ??????? dns_pending")
    #expect(judge(nil).summary == "?? ??????? dns_pending")
    #expect(judge(nil, fault: LocalFault(.backendOverran)).summary == "?? ??????? backend_overran")
  }

  @Test("Each way of failing to resolve keeps its name, with the way to the resolver as the path")
  func failures() {
    for reason in Reason.fixed where reason.layer == .dns && reason != .dnsStale {
      let verdict = judge(DNSFinding(.failed(reason)))
      #expect(verdict.summary == "-- ------- \(reason)")
      #expect(verdict.path.interface == "eth0")
      #expect(verdict.path.address == nil)
      #expect(verdict.addresses.isEmpty)
    }
    #expect(judge(DNSFinding(.resolved), []).reason == .dnsNoData)
  }

  @Test("With every way to a resolver broken, that is the reason; one that works is enough")
  func resolverPath() {
    let lost = Scene.way(to: nil, over: Scene.link(.wired, "eth0", 2, .noCarrier), role: .resolverPath)
    let none = Scene.refused(.noRoute, to: nil, role: .resolverPath)
    let fine = Scene.way(to: nil, over: Scene.wireless, role: .resolverPath)
    let timeout = DNSFinding(.failed(.dnsTimeout))
    #expect(judge(timeout, [none]).reason == .noRoute)
    #expect(judge(timeout, [none, lost]).reason == .carrierLost)
    #expect(judge(timeout, [none, fine]).reason == .dnsTimeout)
    #expect(judge(timeout, [none, Candidate(nil, role: .resolverPath)]).reason == .dnsTimeout)
    #expect(judge(timeout, []).reason == .dnsTimeout)
    let standby = Circumstances(standby: .init(medium: .ppp, isOnTraffic: true))
    #expect(judge(timeout, [none], beside: standby).summary == "-R tcC---- on_traffic")
  }

  @Test("A broken way to the resolver is a fact beside this host's own trouble with asking")
  func factBesideFault() {
    let fault = LocalFault(.probeError(Scene.noDescriptors))
    let lost = Scene.way(to: nil, over: Scene.link(.wired, "eth0", 2, .noCarrier), role: .resolverPath)
    #expect(judge(DNSFinding(.fault(fault)), [lost]).reason == .carrierLost)
    #expect(judge(DNSFinding(.fault(fault))).summary == "?? ??????? probe_error:EMFILE")
    #expect(judge(nil, [lost], fault: fault).reason == .carrierLost)
    #expect(judge(DNSFinding(.fault(LocalFault(.resolverConfig)))).summary == "?? ??????? resolver_config")
  }

  @Test("An old answer goes on while the resolver fails, but not against its word that the name is gone")
  func stale() {
    func judge(_ result: DNSFinding.Result, _ candidate: Candidate, probes: ProbeSet = Scene.allProbes) -> String {
      let dns = DNSFinding(result, addresses: [Scene.remote], isStale: true)
      return Scene.judge([candidate], of: Scene.target(Scene.name), probes: probes, dns: dns).summary
    }
    #expect(judge(.failed(.dnsServFail), Scene.way(.open)) == "-R ------- tcp_open")
    #expect(judge(.failed(.dnsServFail), Scene.way(.failed(.tcpTimeout))) == "-- ------- tcp_timeout")
    #expect(judge(.failed(.dnsServFail), Scene.way(), probes: Scene.nameProbes) == "-R ------- dns_stale")
    #expect(judge(.fault(LocalFault(.probeError(Scene.lowMemory))), Scene.way(.open)) == "-R ------- tcp_open")
    #expect(judge(.failed(.dnsNXDomain), Scene.way(.open)) == "-- ------- dns_nxdomain")
    #expect(judge(.failed(.dnsTimeout), Scene.way(.notRun)) == "-- ------- dns_timeout")
    #expect(judge(.failed(.dnsTimeout), Scene.way()) == "-- ------- dns_timeout")
  }

  @Test("A name of a VPN on demand asks for that VPN where it has no address, unless nothing gets out at all")
  func onDemand() {
    let circumstances = Circumstances(isOnDemandName: true)
    let gone = DNSFinding(.failed(.dnsNXDomain))
    #expect(judge(gone, beside: circumstances).summary == "-R tc--D-- on_demand")
    #expect(judge(gone, beside: circumstances).status == .reachableViaWiFi)
    let cellular = [Scene.way(to: nil, over: Scene.cellular, role: .resolverPath)]
    #expect(judge(gone, cellular, beside: circumstances).status == .reachableViaWWAN)
    let none = [Scene.refused(.noRoute, to: nil, role: .resolverPath)]
    #expect(judge(gone, none, beside: circumstances).summary == "-- ------- no_route")
  }

  @Test("A resolved name whose addresses have yet to be looked at is Unknown")
  func addressesPending() {
    let dns = DNSFinding(.resolved, addresses: [Scene.remote])
    #expect(judge(dns, []).summary == "?? ??????? not_probed")
    #expect(judge(dns, [Candidate(Scene.remote)]).summary == "?? ??????? not_probed")
  }

  @Test("An address never depends on DNS")
  func addressTarget() {
    let dns = DNSFinding(.failed(.dnsTimeout))
    #expect(Scene.judge([Scene.way(.open)], probes: Scene.allProbes, dns: dns).reason == .tcpOpen)
  }
}
