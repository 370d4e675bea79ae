public import ReachCore

extension CauseEvidence {
  /// The evidence in a verdict and in the findings that it was made of; nil when the verdict says nothing.
  ///
  /// - Parameters:
  ///   - isPathOnly: whether only link and route were looked at anew.
  ///   - lostEgress: the interface that the target last left by, if it is down, gone or without carrier now. Asked for
  ///     only where there is no route: a kernel that takes routes away with their interface is not at fault itself.
  public init?(
    _ verdict: Verdict, on findings: RoundFindings, of target: Target, isPathOnly: Bool = false,
    lostEgress: () -> String?
  ) {
    guard verdict.flags != nil else { return nil }
    self.init(isPathOnly: isPathOnly)
    if let index = findings.candidates.firstIndex(where: { $0.link?.isInOrder == true }) {
      usableInterface = findings.candidates[index].link?.interface ?? ""
    }
    if !isPathOnly, let dns = findings.dns { hear(dns) }
    if let address = verdict.path.gateway {
      gateway = .gateway(address, interface: verdict.path.interface)
      gatewayWord = Self.word(on: address, in: findings) ?? word(ofServersBehind: address, verdict, findings)
    } else if let neighbour = Self.answering(in: findings) {
      // It may be the gateway of others.
      (gateway, gatewayWord) = (neighbour, .works)
    }
    if !verdict.status.isReachable { blame = blame(in: verdict, of: target, lostEgress: lostEgress) }
  }

  /// What resolution says of the servers. A failure that only the server's own word can be is an answer all the same.
  private mutating func hear(_ dns: DNSFinding) {
    guard !dns.isCached, !dns.servers.isEmpty else { return }
    switch dns.result {
    case .resolved: serverWord = dns.isStale ? .silent : .works
    case .failed(let reason): serverWord = reason.isAuthoritative ? .works : .silent
    case .fault: return
    }
    servers = dns.servers
  }

  /// What connections say of a gateway; nil when none was tried by it. One that was refused was answered. Of a path with
  /// several legs it is not known which one was taken.
  private static func word(on gateway: IPAddress, in findings: RoundFindings) -> Word? {
    var isSilent = false
    for index in findings.candidates.indices where findings.candidates[index].isWay(by: gateway, .target) {
      switch findings.candidates[index].tcp?.result {
      case .open, .failed(.tcpRefused): return .works
      case .failed(let reason) where reason.isSilenceBeyondGateway: isSilent = true
      default: break
      }
    }
    return isSilent ? .silent : nil
  }

  /// An address without a gateway before it that answered.
  private static func answering(in findings: RoundFindings) -> Cause? {
    for candidate in findings.candidates where candidate.role == .target {
      guard let address = candidate.address, let route = candidate.route, route.decision == .unicast,
        route.gateway == nil, route.legs.count < 2
      else { continue }
      switch candidate.tcp?.result {
      case .open, .failed(.tcpRefused): return .gateway(address, interface: route.interface)
      default: break
      }
    }
    return nil
  }

  /// What a failed resolution says of the gateway between here and the servers.
  private func word(
    ofServersBehind gateway: IPAddress, _ verdict: Verdict, _ findings: RoundFindings
  ) -> Word {
    guard serverWord == .silent, verdict.reason.layer == .dns else { return .nothing }
    guard !findings.candidates.isEmpty, findings.candidates.allSatisfy({ $0.isWay(by: gateway, .resolverPath) }) else {
      return .nothing
    }
    switch verdict.reason {
    case .dnsTimeout, .dnsTransient: return .serverSilent
    case .dnsServFail, .dnsRefused, .dnsNotImp, .dnsFormErr, .dnsMalformed, .dnsTruncated: return .works
    default: return .nothing
    }
  }

  private func blame(in verdict: Verdict, of target: Target, lostEgress: () -> String?) -> Blame? {
    let reason = verdict.reason
    switch reason {
    case .linkDown, .carrierLost, .linkLowerDown, .linkDormant, .interfaceMissing, .vpnUnderlayDown:
      return Self.link(verdict.path.interface, reason)
    case .scopeNoDevice: return Self.link(target.scope, reason)
    case .scopeNoRoute, .localAddressMissing: return Self.link(lostEgress(), reason)
    case .noRoute, .routeUnreachable, .routeProhibit, .routeBlackhole:
      return Self.link(lostEgress(), reason) ?? Blame(.route(reason), reason, isDirect: true)
    case .neighbourFailed: return gateway.map { Blame($0, reason, isDirect: true) }
    case _ where reason.isSilenceBeyondGateway:
      return gatewayWord == .silent ? gateway.map { Blame($0, reason, isDirect: false) } : nil
    case _ where reason.layer == .dns && serverWord == .silent:
      // A closed port, or no way to the server, is a fact about the server. Silence and refusal may be about the name.
      return servers.first.map { Blame(.resolver($0), reason, isDirect: reason == .dnsUnreachable) }
    default: return nil
    }
  }

  private static func link(_ interface: String?, _ reason: Reason) -> Blame? {
    guard let interface, !interface.isEmpty else { return nil }
    return Blame(.link(interface), reason, isDirect: true)
  }
}

extension Candidate {
  /// Whether it leads by this gateway and by no other.
  fileprivate func isWay(by gateway: IPAddress, _ role: Role) -> Bool {
    self.role == role && route?.gateway == gateway && (route?.legs.count ?? 0) < 2
  }
}

extension LinkFinding {
  /// Whether nothing about it would keep a packet: a tunnel may be up whose own path is not.
  fileprivate var isInOrder: Bool { state == .usable && underlay != .down }
}

extension Reason {
  /// Whether a gateway that drops packets would explain it. What is said by ICMP is not silence: somebody is there, be it
  /// the gateway, a router behind it, or this host's own firewall.
  fileprivate var isSilenceBeyondGateway: Bool {
    self == .tcpTimeout
  }
}

extension Target {
  /// The interface that its lookups are bound to.
  fileprivate var scope: String? {
    if case .linkLocal(let interface) = kind { return interface }
    return source.interface
  }
}
