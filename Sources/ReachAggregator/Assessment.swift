internal import ReachCore

/// What one way to a target comes to.
struct Assessment {
  /// How far along the way the evidence that decided was gathered.
  enum Stage: Int {
    /// The address itself, or that there is none.
    case address
    /// The kernel's routing decision.
    case route
    /// The egress interface.
    case link
    /// The connection.
    case connection
  }

  /// The flags; nil when nothing is known.
  var flags: ReachabilityFlags?
  /// Why.
  var reason: Reason
  /// What decided.
  var stage: Stage
  /// The way.
  var path: ReachabilityPath

  init(_ flags: ReachabilityFlags?, _ reason: Reason, _ stage: Stage, _ path: ReachabilityPath = ReachabilityPath()) {
    self.flags = flags
    self.reason = reason
    self.stage = stage
    self.path = path
  }

  /// configd's rank: 2 for reachable as it is, 1 once a connection has been brought up, 0 for not at all.
  var rank: Int {
    guard let flags, flags.contains(.reachable) else { return 0 }
    return flags.contains(.connectionRequired) ? 1 : 2
  }

  /// Whether packets flow as far as this host can tell, so that what lies beyond decides.
  var isClear: Bool { rank == 2 }

  /// A failure beyond this host or of its link: everything is cleared but that the path is cellular.
  func failed(_ reason: Reason, _ stage: Stage) -> Assessment {
    Assessment(flags.map { $0.intersection(.isWWAN) } ?? [], reason, stage, path)
  }

  /// Nothing is known, for this reason, though the way is.
  func unknown(_ reason: Reason, _ stage: Stage) -> Assessment { Assessment(nil, reason, stage, path) }

  /// A connection has to be brought up first, with these flags beside.
  func requiringConnection(_ reason: Reason, _ stage: Stage, _ more: ReachabilityFlags = []) -> Assessment {
    Assessment((flags ?? []).union(more).union(.connectionRequired), reason, stage, path)
  }
}
