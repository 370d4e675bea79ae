internal import ReachAggregator
internal import ReachCore

/// Evidence by name, for tests that read like the sentences they check.
enum Scene {
  static let remote = IPAddress(ipv4: 0xc000_0201)
  static let second = IPAddress(ipv4: 0xc000_0202)
  static let gateway = IPAddress(ipv4: 0xc633_64fe)
  static let own = IPAddress(ipv4: 0xc633_6407)
  static let name = Target.Kind.host(HostName(query: "db.test", display: "db.test"))
  static let lowMemory = FaultCode(errno: 12)
  static let noDescriptors = FaultCode(errno: 24)

  static let wired = link(.wired, "eth0", 2)
  static let wireless = link(.wifi, "wlan0", 3)
  static let cellular = link(.wwan, "wwan0", 4)

  static func link(
    _ medium: Medium, _ name: String, _ index: Int32, _ state: LinkFinding.State = .usable,
    underlay: LinkFinding.Underlay? = nil
  ) -> LinkFinding {
    LinkFinding(interface: name, index: index, medium: medium, state: state, underlay: underlay)
  }

  /// A route through a gateway over this link.
  static func route(over link: LinkFinding, isNeighbourFailed: Bool = false) -> RouteFinding {
    RouteFinding(
      .unicast, interfaceIndex: link.index, interface: link.interface, gateway: gateway, source: own,
      isNeighbourFailed: isNeighbourFailed)
  }

  static func onLink(over link: LinkFinding) -> RouteFinding {
    RouteFinding(.unicast, interfaceIndex: link.index, interface: link.interface, source: own, isOnLink: true)
  }

  /// A candidate whose route leads over the link.
  static func way(
    to address: IPAddress? = remote, over link: LinkFinding = wired, role: Candidate.Role = .target,
    _ tcp: TCPFinding.Result? = nil
  ) -> Candidate {
    Candidate(address, role: role, route: route(over: link), link: link, tcp: tcp.map { TCPFinding($0) })
  }

  /// A candidate that the kernel refuses to route.
  static func refused(_ reason: Reason, to address: IPAddress? = remote, role: Candidate.Role = .target) -> Candidate {
    Candidate(address, role: role, route: RouteFinding(.refused(reason)))
  }

  static func target(_ kind: Target.Kind = .address(remote), _ edit: (inout Target) -> Void = { _ in }) -> Target {
    var target = Target(name: "t", kind: kind)
    edit(&target)
    return target
  }

  static let pathProbes: ProbeSet = [.link, .route]
  static let tcpProbes: ProbeSet = [.link, .route, .tcp]
  static let nameProbes: ProbeSet = [.link, .route, .dns]
  static let allProbes: ProbeSet = [.link, .route, .dns, .tcp]

  /// The verdict on candidates of a target.
  static func judge(
    _ candidates: [Candidate], of target: Target = target(), probes: ProbeSet = tcpProbes, dns: DNSFinding? = nil,
    fault: LocalFault? = nil, _ circumstances: Circumstances = Circumstances()
  ) -> Verdict {
    let findings = RoundFindings(
      probes: probes, dns: dns, candidates: candidates, fault: fault, circumstances: circumstances)
    return Judge.verdict(on: findings, of: target)
  }
}

extension Verdict {
  /// Flags and reason as one string, such as `-R ------- tcp_open`.
  var summary: String { (flags?.description ?? ReachabilityFlags.absentDescription) + " " + reason.description }
}
