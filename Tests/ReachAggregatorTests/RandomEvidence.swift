internal import ReachCore
internal import Testing

/// `#expect` for checks made a million times: it looks at its operands only when the check fails.
func expect(
  _ condition: Bool, _ findings: @autoclosure () -> RoundFindings? = nil, at location: SourceLocation = #_sourceLocation
) {
  if !condition { Issue.record("\(findings().map { "\($0)" } ?? "does not hold")", sourceLocation: location) }
}

/// A generator whose numbers follow from its seed alone (SplitMix64), so that a failure can be had again.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// True once in that many times.
  mutating func once(in count: UInt64) -> Bool { next() % count == 0 }

  /// One of the values.
  mutating func pick<Value>(_ values: [Value]) -> Value { values[Int(next() % UInt64(values.count))] }
}

/// Any evidence a probe may leave, likely or not.
struct RandomEvidence {
  var random: SeededGenerator

  init(seed: UInt64) { random = SeededGenerator(seed: seed) }

  mutating func target() -> Target {
    let kinds: [Target.Kind] = [
      Scene.name, .address(Scene.remote), .pair(local: Scene.own, remote: Scene.remote), .defaultPath,
      .linkLocal(interface: "eth0"), .interface("eth0"),
    ]
    return Scene.target(random.pick(kinds)) {
      $0.policy.statusRule = random.pick(StatusRule.allCases)
      $0.policy.tcp = random.pick(TargetPolicy.TCP.allCases)
      $0.policy.addresses = random.pick(TargetPolicy.Addresses.allCases)
      $0.source.interface = random.once(in: 4) ? "eth0" : nil
    }
  }

  mutating func findings() -> RoundFindings {
    let probes = random.once(in: 4) ? ProbeSet(rawValue: UInt8(random.next() % 16)) : Scene.allProbes
    let candidates = (0..<Int(random.next() % 5)).map { _ in candidate() }
    return RoundFindings(
      probes: probes, dns: random.once(in: 4) ? nil : resolution(), candidates: candidates,
      fault: random.once(in: 6) ? fault() : nil, circumstances: circumstances())
  }

  private mutating func fault() -> LocalFault {
    let reasons: [Reason] = [
      .badTarget, .backendMissing, .backendOverran, .resolverConfig, .notProbed, .probeError(Scene.noDescriptors),
    ]
    return LocalFault(random.pick(reasons))
  }

  private mutating func candidate() -> Candidate {
    let addresses: [IPAddress?] = [
      Scene.remote, Scene.second, nil, IPAddress(ipv4: 0), IPAddress(ipv6High: 0x2001 << 48, low: 1),
      IPAddress(ipv4: 0xa9fe_0101),
    ]
    return Candidate(
      random.pick(addresses), role: random.once(in: 4) ? .resolverPath : .target,
      route: random.once(in: 8) ? nil : route(), link: random.once(in: 8) ? nil : link(),
      tcp: random.once(in: 8) ? nil : TCPFinding(connection()))
  }

  private mutating func route() -> RouteFinding {
    let decisions: [RouteFinding.Decision] = [
      .unicast, .unicast, .unicast, .local, .refused(.noRoute), .refused(.routeProhibit), .refused(.scopeNoRoute),
      .refused(.localAddressMissing), .fault(Scene.lowMemory),
    ]
    return RouteFinding(
      random.pick(decisions), interfaceIndex: 2, interface: "eth0", gateway: Scene.gateway,
      isOnLink: random.once(in: 2), isNeighbourFailed: random.once(in: 4))
  }

  private mutating func link() -> LinkFinding {
    let states: [LinkFinding.State] = [
      .usable, .usable, .usable, .usable, .down, .noCarrier, .lowerLayerDown, .dormant, .missing,
    ]
    let underlays: [LinkFinding.Underlay?] = [nil, nil, .usable, .cellular, .down]
    return LinkFinding(
      interface: "eth0", index: 2, medium: random.pick(Medium.allCases), state: random.pick(states),
      isPointToPoint: random.once(in: 4), underlay: random.pick(underlays))
  }

  private mutating func connection() -> TCPFinding.Result {
    random.pick([
      .open, .open, .failed(.tcpRefused), .failed(.tcpTimeout), .failed(.tcpHostUnreachable),
      .refusedLocally(FaultCode(errno: 101)), .refusedLocally(FaultCode(errno: 99)), .fault(Scene.noDescriptors),
      .notRun,
    ])
  }

  private mutating func resolution() -> DNSFinding {
    let results: [DNSFinding.Result] = [
      .resolved, .resolved, .resolved, .failed(.dnsNXDomain), .failed(.dnsTimeout), .failed(.dnsServFail),
      .fault(LocalFault(.resolverConfig)),
    ]
    return DNSFinding(
      random.pick(results), addresses: random.once(in: 3) ? [] : [Scene.remote], isStale: random.once(in: 2))
  }

  private mutating func circumstances() -> Circumstances {
    let standby = Circumstances.Standby(
      medium: random.pick([.ppp, .wwan]), isOnTraffic: random.once(in: 2), needsIntervention: random.once(in: 2))
    return Circumstances(
      isCaptivePortal: random.once(in: 6), standby: random.once(in: 4) ? standby : nil,
      isOnDemandName: random.once(in: 6))
  }
}
