internal import ReachCore

/// The evidence that a row's words stand for.
extension Vector {
  var declaredTarget: Target {
    var policy = TargetPolicy()
    policy.statusRule = rule
    for word in words(extra) where word.hasPrefix("tcp_policy=") {
      policy.tcp = TargetPolicy.TCP(rawValue: String(word.dropFirst("tcp_policy=".count))) ?? .service
    }
    var source = SourceBinding()
    if scope.hasPrefix("oif=") { source.interface = String(scope.dropFirst(4)) }
    return Target(name: id, kind: targetKind, port: tcp == "-" ? nil : 443, source: source, policy: policy)
  }

  var findings: RoundFindings {
    var probes: ProbeSet = [.link, .route]
    if dns != "-" { probes.insert(.dns) }
    if tcp != "-" { probes.insert(.tcp) }
    var findings = RoundFindings(probes: probes, dns: resolution, circumstances: circumstances)
    if target == "bad" {
      findings.fault = LocalFault(.badTarget)
    } else {
      findings.candidates = candidates
    }
    return findings
  }

  private var targetKind: Target.Kind {
    switch target {
    case "name": .host(HostName(query: "name.test", display: "name.test"))
    case "addr6": .address(IPAddress(ipv6High: 0x2001_0db8 << 32, low: 1))
    case "pair": .pair(local: Self.address(200), remote: Self.address(1))
    case "ll4": .address(IPAddress(ipv4: 0xa9fe_0001))
    case "default": .defaultPath
    default: .address(Self.address(1))
    }
  }

  private static func address(_ last: UInt32) -> IPAddress { IPAddress(ipv4: 0xc000_0200 + last) }

  private func words(_ cell: String) -> [Substring] { cell.split(separator: ",") }

  /// The cell's entry for one address; the last one stands for all that follow.
  private func entry(_ cell: String, _ index: Int) -> String {
    let entries = cell.split(separator: "|").map(String.init)
    return index < entries.count ? entries[index] : entries.last ?? "-"
  }

  // MARK: Candidates

  private var candidates: [Candidate] {
    let isResolved = dns == "-" || dns.hasPrefix("ok:") || dns.hasPrefix("stale:")
    return (0..<addressCount).map { index in
      Candidate(
        address(at: index), role: isResolved ? .target : .resolverPath, route: routeFinding(index),
        link: linkFinding(index), tcp: tcpFinding(index))
    }
  }

  private var addressCount: Int {
    guard let colon = dns.firstIndex(of: ":") else { return 1 }
    return Int(dns[dns.index(after: colon)...]) ?? 1
  }

  private func address(at index: Int) -> IPAddress? {
    switch targetKind {
    case .address(let address), .pair(_, let address): address
    case .host: Self.address(UInt32(index) + 1)
    case .defaultPath, .linkLocal, .interface: nil
    }
  }

  private func linkFinding(_ index: Int) -> LinkFinding? {
    let parts = words(entry(link, index))
    guard let head = parts.first, head != "-" else { return nil }
    let pair = head.split(separator: ":")
    let medium = pair[0] == "lo" ? Medium.loopback : Medium(rawValue: String(pair[0])) ?? .other
    let states: [Substring: LinkFinding.State] = [
      "up": .usable, "down": .down, "no_carrier": .noCarrier, "dormant": .dormant,
    ]
    let underlays: [Substring: LinkFinding.Underlay] = [
      "underlay=down": .down, "underlay=wwan": .cellular, "underlay=up": .usable,
    ]
    return LinkFinding(
      interface: String(pair[0]) + "0", index: Int32(index) + 2, medium: medium, state: states[pair[1]] ?? .missing,
      isPointToPoint: parts.contains("p2p"), underlay: parts.lazy.compactMap { underlays[$0] }.first)
  }

  private func routeFinding(_ index: Int) -> RouteFinding? {
    if extra.contains("local=missing") { return RouteFinding(.refused(.localAddressMissing)) }
    let gateway = Self.address(254)
    let isFailed = extra.contains("neigh=failed")
    switch entry(route, index) {
    case "unicast,gw":
      return RouteFinding(
        .unicast, interfaceIndex: Int32(index) + 2, interface: "eth0", gateway: gateway, isNeighbourFailed: isFailed)
    case "unicast,onlink":
      return RouteFinding(
        .unicast, interfaceIndex: Int32(index) + 2, interface: "eth0", isOnLink: true, isNeighbourFailed: isFailed)
    case "local": return RouteFinding(.local, interfaceIndex: 1, interface: "lo", isOnLink: true)
    case "notrun", "-": return nil
    case "ENETUNREACH", "EAFNOSUPPORT": return RouteFinding(.refused(.noRoute))
    case "EHOSTUNREACH": return RouteFinding(.refused(.routeUnreachable))
    case "EACCES": return RouteFinding(.refused(.routeProhibit))
    case "EINVAL": return RouteFinding(.refused(.routeBlackhole))
    case "ENODEV": return RouteFinding(.refused(.scopeNoDevice))
    case let name: return RouteFinding(.fault(FaultCode(name: name) ?? FaultCode(errno: 0)))
    }
  }

  private func tcpFinding(_ index: Int) -> TCPFinding? {
    switch entry(tcp, index) {
    case "open": return TCPFinding(.open)
    case "refused": return TCPFinding(.failed(.tcpRefused))
    case "timeout": return TCPFinding(.failed(.tcpTimeout))
    case "EHOSTUNREACH", "EHOSTDOWN": return TCPFinding(.failed(.tcpHostUnreachable))
    case "ENETUNREACH": return TCPFinding(.failed(.tcpNetUnreachable))
    case "EACCES": return TCPFinding(.failed(.tcpAdminProhibited))
    case "notrun": return nil
    case "-": return tcp == "-" ? nil : TCPFinding(.notRun)
    case let name where name.hasSuffix(":sync"):
      return TCPFinding(.refusedLocally(FaultCode(name: String(name.dropLast(5))) ?? FaultCode(errno: 0)))
    case let name: return TCPFinding(.fault(FaultCode(name: name) ?? FaultCode(errno: 0)))
    }
  }

  // MARK: Resolution and circumstances

  private var resolution: DNSFinding? {
    let addresses = (0..<addressCount).map { Self.address(UInt32($0) + 1) }
    switch dns {
    case "-", "pending": return nil
    case let text where text.hasPrefix("ok:"): return DNSFinding(.resolved, addresses: addresses)
    case let text where text.hasPrefix("stale:"):
      return DNSFinding(.failed(.dnsTimeout), addresses: addresses, isStale: true)
    case let text where text.hasPrefix("sys:"):
      return DNSFinding(.fault(LocalFault(Reason(spelling: "probe_error:" + text.dropFirst(4)) ?? .notProbed)))
    default: return DNSFinding(.failed(Reason(spelling: "dns_" + dns) ?? .dnsTransient))
    }
  }

  private var circumstances: Circumstances {
    let parts = words(extra)
    var circumstances = Circumstances(
      isCaptivePortal: parts.contains("portal"), isOnDemandName: parts.contains { $0.hasPrefix("vod=") })
    if let standby = parts.first(where: { $0.hasPrefix("standby=") }) {
      circumstances.standby = Circumstances.Standby(
        medium: Medium(rawValue: String(standby.dropFirst("standby=".count))) ?? .other,
        isOnTraffic: parts.contains("on_traffic"),
        needsIntervention: parts.contains("failed") || parts.contains("locked"))
    }
    return circumstances
  }
}
