import ReachCore

/// How a target really is.
struct Truth: Hashable {
  /// A packet for it can leave this host.
  var hasPath: Bool
  /// A round would find it reachable.
  var isGood: Bool
}

extension World {
  /// How the target really is now, by nothing but the world's own state.
  func truth(of target: Target) -> Truth {
    switch target.kind {
    case .interface(let name):
      let isUsable = interface(named: name)?.isUsable == true
      return Truth(hasPath: isUsable, isGood: isUsable)
    case .address(let address), .pair(_, let address):
      let hasPath = hasPath(to: address, scope: target.source.interface)
      return Truth(hasPath: hasPath, isGood: hasPath && (target.port == nil || answers(address, target.policy)))
    case .host: return truth(ofName: target)
    case .defaultPath, .linkLocal:
      let hasPath =
        hasPath(to: IPAddress(ipv4: 0x0909_0909)) || hasPath(to: IPAddress(ipv6High: 0, low: 0))
      return Truth(hasPath: hasPath, isGood: hasPath)
    }
  }

  /// Every address that the name may have, and be remembered for, counts: a path is lacking where none has one, and all
  /// is well where each is.
  private func truth(ofName target: Target) -> Truth {
    let places: [Place] = [.web, .mirror, .web6]
    let paths = places.map { hasPath(to: $0.address) }
    let isResolved = resolver == .answers && resolverDelay * 2 < target.policy.timeout.nanoseconds
    let hasResolver = hasPath(to: Place.resolver.address)
    let areAllUp = zip(places, paths).allSatisfy { place, hasPath in
      hasPath && (target.port == nil || answers(place.address, target.policy, share: 2))
    }
    return Truth(hasPath: hasResolver || paths.contains(true), isGood: isResolved && hasResolver && areAllUp)
  }

  private func hasPath(to address: IPAddress, scope: String? = nil) -> Bool {
    var bound: Int?
    if let scope {
      guard let interface = interface(named: scope) else { return false }
      bound = interface.place
    }
    guard let place = decision(for: address, scope: bound).route?.place else { return false }
    return interfaces[place]?.isUsable == true
  }

  /// Whether the host's answer counts as reachable and comes within that share of the timeout.
  private func answers(_ address: IPAddress, _ policy: TargetPolicy, share: Int64 = 1) -> Bool {
    guard let host = Place.of(address), policy.tcp != .advisory else { return true }
    guard delays[host.rawValue] * share < policy.timeout.nanoseconds else { return false }
    switch answers[host.rawValue] {
    case .open: return true
    case .refused: return policy.tcp == .host
    case .silent, .failed: return false
    }
  }
}
