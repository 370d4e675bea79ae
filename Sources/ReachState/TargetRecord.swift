public import ReachCore

/// How often a target's status turned into each of the four.
public struct TransitionTotals: Hashable, Sendable {
  /// Into Unknown.
  public var unknown: UInt64 = 0
  /// Into NotReachable.
  public var notReachable: UInt64 = 0
  /// Into ReachableViaWWAN.
  public var reachableViaWWAN: UInt64 = 0
  /// Into ReachableViaWiFi.
  public var reachableViaWiFi: UInt64 = 0

  /// None so far.
  public init() {}

  /// The count of one status.
  public subscript(status: Status) -> UInt64 {
    get {
      switch status {
      case .unknown: unknown
      case .notReachable: notReachable
      case .reachableViaWWAN: reachableViaWWAN
      case .reachableViaWiFi: reachableViaWiFi
      }
    }
    set {
      switch status {
      case .unknown: unknown = newValue
      case .notReachable: notReachable = newValue
      case .reachableViaWWAN: reachableViaWWAN = newValue
      case .reachableViaWiFi: reachableViaWiFi = newValue
      }
    }
  }
}

/// A counter that is kept over a clean restart. Its name is its owner's business and holds no line feed.
public struct KeptCounter: Hashable, Sendable {
  /// What it counts.
  public var name: String
  /// How much.
  public var value: UInt64
  /// A counter.
  public init(_ name: String, _ value: UInt64) {
    self.name = name
    self.value = value
  }
}

/// A target as it stands, in what is kept of it.
public struct TargetRecord: Hashable, Sendable {
  /// The target.
  public var target: Target
  /// Its published state. The list of addresses is not kept.
  public var state: TargetState
  /// Its transitions so far.
  public var totals: TransitionTotals
  /// Counters that are kept at a clean stop alone.
  public var counters: [KeptCounter]

  /// A record.
  public init(_ target: Target, state: TargetState, totals: TransitionTotals, counters: [KeptCounter] = []) {
    self.target = target
    self.state = state
    self.totals = totals
    self.counters = counters
  }
}

/// A target's first status or a change of it, with what the target came to thereby: handed over as one, kept as one.
public struct StateChange: Hashable, Sendable {
  /// The target as it stands from now on. Its counters are left out.
  public var record: TargetRecord
  /// What happened; nil for a first status, which is no transition.
  public var transition: Transition?

  /// A change.
  public init(_ record: TargetRecord, transition: Transition?) {
    self.record = record
    self.transition = transition
  }
}
