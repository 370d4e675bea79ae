/// The path and the address that decided a verdict. What does not exist is empty or nil.
public struct ReachabilityPath: Hashable, Sendable {
  /// The egress interface's name; empty when there is none.
  public var interface: String
  /// The egress interface's index; 0 when there is none.
  public var interfaceIndex: Int32
  /// The kind of network; nil when the link was not looked at.
  public var medium: Medium?
  /// The gateway; nil on an on-link path.
  public var gateway: IPAddress?
  /// The source address.
  public var source: IPAddress?
  /// The target's address that decided.
  public var address: IPAddress?

  /// A path; none by default.
  public init(
    interface: String = "", interfaceIndex: Int32 = 0, medium: Medium? = nil, gateway: IPAddress? = nil,
    source: IPAddress? = nil, address: IPAddress? = nil
  ) {
    self.interface = interface
    self.interfaceIndex = interfaceIndex
    self.medium = medium
    self.gateway = gateway
    self.source = source
    self.address = address
  }
}

/// What one address of a target comes to.
public struct AddressVerdict: Hashable, Sendable {
  /// How it counts.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// It can be reached.
    case reachable
    /// It cannot.
    case unreachable
    /// This host did not get to try.
    case untested
  }

  /// The address.
  public var address: IPAddress
  /// How it counts.
  public var state: State
  /// Why.
  public var reason: Reason

  /// A verdict on one address.
  public init(address: IPAddress, state: State, reason: Reason) {
    self.address = address
    self.state = state
    self.reason = reason
  }
}

/// What a target's evidence comes to.
///
/// `status` is always the target's rule applied to `flags`, and Unknown exactly when the flags are absent.
public struct Verdict: Hashable, Sendable {
  /// The flags; nil while nothing is known.
  public var flags: ReachabilityFlags?
  /// The status.
  public var status: Status
  /// Why.
  public var reason: Reason
  /// The path and address that decided.
  public var path: ReachabilityPath
  /// Every address of the target, in order.
  public var addresses: [AddressVerdict]

  /// A verdict; the status is derived.
  public init(
    flags: ReachabilityFlags?, rule: StatusRule, reason: Reason, path: ReachabilityPath = ReachabilityPath(),
    addresses: [AddressVerdict] = []
  ) {
    self.flags = flags
    self.status = rule.status(of: flags)
    self.reason = reason
    self.path = path
    self.addresses = addresses
  }

  /// What holds before anything has been observed.
  public static let initial = Verdict(flags: nil, rule: .afnetworking, reason: .notProbed)
}

/// A target's status as it stands: the verdict that is published, after thresholds and holds.
public struct TargetState: Hashable, Sendable {
  /// The verdict that is published.
  public var verdict: Verdict
  /// Whether it is held without fresh evidence.
  public var isStale: Bool
  /// When the current status began, in nanoseconds since 1970 UTC; nil before the first.
  public var since: Int64?
  /// Grows by one with the first status and with each change of status.
  public var sequence: UInt64

  /// A state; that before the first round by default.
  public init(verdict: Verdict = .initial, isStale: Bool = false, since: Int64? = nil, sequence: UInt64 = 0) {
    self.verdict = verdict
    self.isStale = isStale
    self.since = since
    self.sequence = sequence
  }
}

/// What a target's state did when new evidence came in.
public enum TargetEvent: Hashable, Sendable {
  /// The first status after start. Not a transition, yet it takes a sequence number, unless it bears out the status that
  /// the agent's last run left behind: then it has the number and the time of that.
  case initial(StatusChange)
  /// The status changed: a transition.
  case changed(StatusChange)
  /// The flags changed and the status did not. Takes no sequence number.
  case flagsChanged(from: ReachabilityFlags, to: Verdict)
  /// The egress interface is another than the last one there was: alone, or behind a change of status or flags.
  case pathChanged(from: ReachabilityPath, to: ReachabilityPath)
}

/// A change of status.
public struct StatusChange: Hashable, Sendable {
  /// This target's count of statuses, the first one included.
  public var sequence: UInt64
  /// When, in nanoseconds since 1970 UTC.
  public var at: Int64
  /// The status before; nil for the first one.
  public var from: Status?
  /// The verdict that holds from now on.
  public var to: Verdict
  /// How long the status before had lasted; nil for the first one.
  public var inPrevious: Duration?
  /// The fault that made the target NotReachable, which others may fail for as well: the same text on every change that
  /// it brought about, and never used again for another fault. Nil where no fault beyond the target itself is known.
  public var causeID: String?

  /// A change.
  public init(
    sequence: UInt64, at: Int64, from: Status?, to: Verdict, inPrevious: Duration?, causeID: String? = nil
  ) {
    self.sequence = sequence
    self.at = at
    self.from = from
    self.to = to
    self.inPrevious = inPrevious
    self.causeID = causeID
  }
}
