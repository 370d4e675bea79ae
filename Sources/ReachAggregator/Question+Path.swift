internal import ReachCore

/// Route and link: whether a packet can leave this host.
extension Question {
  /// What the path of one candidate comes to, before anything beyond this host is looked at.
  func assessPath(_ candidate: Candidate) -> Assessment {
    if candidate.role == .target, !isPathOnly, let address = candidate.address, address.isNoPeer {
      return assess(noPeer: address)
    }
    if let blocked = assessRoute(candidate) { return blocked }
    let base = Assessment(pathFlags(candidate), pathReason(candidate), .route, path(candidate))
    if let blocked = assessLink(candidate.link, base) { return blocked }
    let flags = base.flags ?? []
    if circumstances.isCaptivePortal, flags.isDisjoint(with: [.isLocalAddress, .isDirect]) {
      return base.requiringConnection(.captivePortal, .route, .interventionRequired)
    }
    return base
  }

  /// The verdict on an interface: the state of its link and nothing else.
  func interfaceVerdict(_ candidates: [Candidate]) -> Verdict {
    guard probes.contains(.link), let link = candidates.first?.link else {
      return verdict(Assessment(nil, missingReason, .link))
    }
    var flags = linkFlags(link)
    if link.medium == .loopback { flags.insert(.isLocalAddress) }
    let path = ReachabilityPath(interface: link.interface, interfaceIndex: link.index, medium: link.medium)
    let base = Assessment(flags.union(.reachable), .interfaceUp, .link, path)
    return verdict(assessLink(link, base) ?? base)
  }

  /// An address that no peer can have. Declared as the target it is a mistake; in a name's answer, where blocking
  /// resolvers put `0.0.0.0`, it says that the name has no address.
  private func assess(noPeer address: IPAddress) -> Assessment {
    let path = ReachabilityPath(address: address)
    if kind == .host { return Assessment([], .dnsNoData, .address, path) }
    return Assessment(nil, .badTarget, .address, path)
  }

  // MARK: Route

  /// What the route settles alone; nil when a packet would be sent, or when no route was asked for.
  private func assessRoute(_ candidate: Candidate) -> Assessment? {
    let path = ReachabilityPath(address: target(candidate))
    if isScoped, candidate.link?.state == .missing { return Assessment([], .scopeNoDevice, .route, path) }
    guard let route = candidate.route else {
      return probes.contains(.route) ? withoutRoute(candidate, missingReason, path) : nil
    }
    switch route.decision {
    case .unicast, .local: return nil
    case .fault(let code): return withoutRoute(candidate, .probeError(code), path)
    case .refused(.noRoute) where isScoped: return Assessment([], .scopeNoRoute, .route, path)
    case .refused(.noRoute):
      return circumstances.standby.map { assess($0, path) } ?? Assessment([], .noRoute, .route, path)
    case .refused(let reason): return Assessment([], reason, .route, path)
    }
  }

  /// Nothing is known of the route. A link that is known to be broken is a fact all the same.
  private func withoutRoute(_ candidate: Candidate, _ reason: Reason, _ path: ReachabilityPath) -> Assessment {
    let unknown = Assessment(nil, reason, .route, path)
    guard let link = candidate.link, link.isBroken else { return unknown }
    let known = Assessment(linkFlags(link), link.reason, .link, self.path(candidate))
    return known.failed(link.reason, .link)
  }

  /// A service that stands by while there is no route (configd's rule for inactive services).
  private func assess(_ standby: Circumstances.Standby, _ path: ReachabilityPath) -> Assessment {
    var flags: ReachabilityFlags = [.reachable, .transientConnection, .connectionRequired]
    if standby.medium == .wwan { flags.insert(.isWWAN) }
    if standby.isOnTraffic { flags.insert(.connectionOnTraffic) }
    if standby.needsIntervention { flags.insert(.interventionRequired) }
    let reason: Reason =
      standby.needsIntervention ? .interventionRequired : standby.isOnTraffic ? .onTraffic : .connectionRequired
    return Assessment(flags, reason, .route, path)
  }

  // MARK: Link

  /// What the link settles alone; nil when it is usable, or when no link was asked for.
  private func assessLink(_ link: LinkFinding?, _ base: Assessment) -> Assessment? {
    guard let link else {
      return probes.contains(.link) ? base.unknown(missingReason, .link) : nil
    }
    if link.isBroken { return base.failed(link.reason, .link) }
    if link.state == .dormant { return base.requiringConnection(.linkDormant, .link) }
    if link.underlay == .down { return base.requiringConnection(.vpnUnderlayDown, .link, .transientConnection) }
    return nil
  }

  // MARK: Flags

  private func linkFlags(_ link: LinkFinding) -> ReachabilityFlags {
    if link.medium == .wwan || link.underlay == .cellular { return [.isWWAN, .transientConnection] }
    return link.isTransient ? .transientConnection : []
  }

  private func pathFlags(_ candidate: Candidate) -> ReachabilityFlags {
    var flags: ReachabilityFlags = .reachable
    if let link = candidate.link { flags.formUnion(linkFlags(link)) }
    if kind == .defaultPath { return flags }
    if isLocal(candidate) { flags.insert(.isLocalAddress) }
    if isDirect(candidate) { flags.insert(.isDirect) }
    return flags
  }

  private func isLocal(_ candidate: Candidate) -> Bool {
    candidate.route?.decision == .local || candidate.link?.medium == .loopback
  }

  private func isDirect(_ candidate: Candidate) -> Bool {
    guard let route = candidate.route else { return false }
    if route.decision == .local { return true }
    if route.isOnLink, candidate.link?.isPointToPoint != true { return true }
    // As SystemConfiguration since its move to network paths: 169.254/16 is direct over wired and Wi-Fi, whatever the
    // routing table says.
    let medium = candidate.link?.medium
    return isIPv4LinkLocal(candidate) && (medium == .wired || medium == .wifi)
  }

  private func isIPv4LinkLocal(_ candidate: Candidate) -> Bool {
    if kind == .linkLocal { return true }
    guard let address = candidate.address else { return false }
    return address.family == .ipv4 && address.isLinkLocal
  }

  private func pathReason(_ candidate: Candidate) -> Reason {
    if candidate.route == nil, candidate.link != nil { return .interfaceUp }
    return candidate.route?.decision == .local && kind != .defaultPath ? .localAddress : .routeOK
  }

  // MARK: Path

  private func path(_ candidate: Candidate) -> ReachabilityPath {
    let route = candidate.route?.isRoutable == true ? candidate.route : nil
    let link = candidate.link
    if let route, let link, let other = otherNextHop(of: route, over: link) {
      return ReachabilityPath(
        interface: link.interface, interfaceIndex: link.index, medium: link.medium, gateway: other.gateway,
        address: target(candidate))
    }
    return ReachabilityPath(
      interface: route.map(\.interface) ?? link?.interface ?? "",
      interfaceIndex: route?.interfaceIndex ?? link?.index ?? 0,
      medium: link?.medium, gateway: route?.gateway, source: route?.source, address: target(candidate))
  }

  /// Of a route with several next hops, the one whose link is what is wrong, where packets may take another one: the
  /// interface that is named must be the one that needs mending.
  private func otherNextHop(of route: RouteFinding, over link: LinkFinding) -> RouteFinding.Leg? {
    guard link.index != route.interfaceIndex, link.state != .usable || link.underlay == .down else { return nil }
    return route.legs.first { $0.interfaceIndex == link.index }
  }

  /// The candidate's address where it is one of the target's own, rather than a representative or a resolver's.
  private func target(_ candidate: Candidate) -> IPAddress? {
    isPathOnly || candidate.role == .resolverPath ? nil : candidate.address
  }
}

extension LinkFinding {
  /// Whether nothing can pass: a dormant link is not broken, and a usable one may still rest on a broken path.
  var isBroken: Bool {
    switch state {
    case .down, .noCarrier, .lowerLayerDown, .missing: true
    case .usable, .dormant: false
    }
  }
}

extension IPAddress {
  /// Whether no peer can have it: a group, everybody, nobody, or a link-local address without saying on which link.
  var isNoPeer: Bool {
    isMulticast || isBroadcast || isUnspecified || (family == .ipv6 && isLinkLocal && zone == nil)
  }
}
