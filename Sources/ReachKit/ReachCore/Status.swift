/// What a target's flags come to, in the words of AFNetworking's reachability manager and Apple's sample.
public enum Status: String, Hashable, Sendable, CaseIterable {
  /// Nothing is known: the flags are absent. Never a stand-in for "down".
  case unknown = "Unknown"
  /// The target cannot be reached.
  case notReachable = "NotReachable"
  /// Reachable over cellular.
  case reachableViaWWAN = "ReachableViaWWAN"
  /// Reachable over anything that is not cellular, wired networks included.
  case reachableViaWiFi = "ReachableViaWiFi"

  /// Whether it is one of the two reachable ones.
  public var isReachable: Bool { self == .reachableViaWWAN || self == .reachableViaWiFi }
}

/// How a status is derived from flags: which of the published rules is followed.
public enum StatusRule: String, Hashable, Sendable, CaseIterable {
  /// AFNetworking's, the same as Alamofire's: a connection that must be brought up by hand is not reachable.
  case afnetworking
  /// Apple's `networkStatusForFlags`: a cellular path counts whatever else is set.
  case apple
  /// Apple's `localWiFiStatusForFlags`: only what is reachable directly counts.
  case localwifi

  /// The status of these flags; of none at all, Unknown.
  public func status(of flags: ReachabilityFlags?) -> Status {
    guard let flags else { return .unknown }
    guard flags.contains(.reachable) else { return .notReachable }
    let automatic = !flags.isDisjoint(with: [.connectionOnTraffic, .connectionOnDemand])
    let comesUp =
      !flags.contains(.connectionRequired) || (automatic && !flags.contains(.interventionRequired))
    let cellular = flags.contains(.isWWAN)
    switch self {
    case .afnetworking: return comesUp ? (cellular ? .reachableViaWWAN : .reachableViaWiFi) : .notReachable
    case .apple: return cellular ? .reachableViaWWAN : (comesUp ? .reachableViaWiFi : .notReachable)
    case .localwifi: return flags.contains(.isDirect) ? .reachableViaWiFi : .notReachable
    }
  }
}
