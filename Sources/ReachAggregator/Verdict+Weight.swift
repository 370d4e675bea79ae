internal import ReachCore

/// How a verdict moves a status.
enum Weight {
  /// It says nothing about the target.
  case none
  /// The target can be reached.
  case success
  /// A failure that counts once `fall` of them have come in a row: of tcp, or one of dns that may pass.
  case tentative
  /// A failure of the path, which counts once it has lasted for `hold`.
  case path
  /// A failure that counts at once.
  case final
}

extension Verdict {
  /// How it moves a status.
  var weight: Weight {
    guard let flags else { return .none }
    if status.isReachable { return .success }
    switch reason.layer {
    // With the flag R still set nothing failed: the rule asks for more than this path offers.
    case .tcp: return flags.contains(.reachable) ? .path : .tentative
    case .dns: return reason.isAuthoritative ? .final : .tentative
    // Seen where a connection failed, and as passing as that.
    case .route where reason == .neighbourFailed: return .tentative
    case .link, .route: return .path
    case .config, .local: return .final
    }
  }

  /// Whether route and link alone decided it, so that a look at these says as much as a round.
  var restsOnPathAlone: Bool {
    switch reason.layer {
    case .link, .route: reason != .neighbourFailed
    case .dns, .tcp, .config, .local: false
    }
  }

  /// Whether the path is there, and nothing is known for the sole reason that nothing was tried beyond it.
  var hasClearPath: Bool { flags == nil && reason == .notProbed && !path.interface.isEmpty }

  /// Whether its path is one that packets left by, so that another egress interface is news. The path to a resolver,
  /// or none at all, is not.
  var hasEgress: Bool {
    guard let flags, path.interfaceIndex != 0 || !path.interface.isEmpty else { return false }
    return flags.contains(.reachable) || reason.layer == .tcp || reason == .neighbourFailed
  }

  /// Whether waiting cannot mend it: the configuration asks for what cannot be.
  var isBeyondWaiting: Bool { reason.layer == .config || reason == .backendMissing }
}
