public import ReachCore

/// What is published of one target, and how much longer it stands against new verdicts.
///
/// A value without clock or I/O: the caller says what time it is. It holds these rules.
///
/// - **First status.** The first verdict that says anything is published at once, as `initial`, with two exceptions: a
///   failure that needs `fall` confirmations leaves the target Unknown, by that failure's reason, until they have come;
///   and a target that nothing is known of gets its `initial` event, Unknown, once it has stayed so for longer than
///   `unknownAfter` rounds, or at once where waiting cannot mend it (`bad_target`, `backend_missing`).
/// - **Failures.** Those of tcp, and those of dns that may pass, move a known status once `fall` have come in a row;
///   until then it stands, and not as stale, since what is known of it is fresh. NXDOMAIN and NODATA move it at once.
/// - **Path.** A link or route verdict moves it at once, or once it has lasted for `hold`, in which time it stands as
///   stale. The time runs from the first such verdict until one that contradicts it.
/// - **Recovery.** NotReachable turns reachable after `rise` successes in a row, whatever the failure was; `hold` delays
///   nothing here. From Unknown, the first success decides.
/// - **Local faults** neither confirm nor contradict anything. They leave a known status standing as stale for
///   `unknownAfter` rounds; the next one turns it Unknown.
/// - **Looks at the path** between rounds move a status as a round's path verdict does. What they cannot see, they leave
///   alone: an old connection neither confirms nor contradicts anything, so that a target which a broken path made
///   NotReachable stands as stale once the path is there again, until a round has asked the peer.
/// - **A restored status**, the one that the agent's last run left behind, is published as stale and known: the same
///   rules move it. Evidence that bears it out gives the `initial` event, with the number and the beginning that the
///   status had; evidence of another status is a change like any other, since that happened while nobody looked.
/// - Inside one status the latest verdict is published as it comes, reason and path included, as far as it counts.
public struct TargetJudge: Sendable {
  /// What is published.
  public private(set) var state: TargetState
  /// When the current status began; nil before the first one.
  public private(set) var began: Instant?

  /// How often fresh evidence told of another status than the evidence before, whatever came of it.
  public private(set) var rawChanges: UInt32

  private var rawStatus: Status = .unknown
  private var failures: Int32 = 0
  private var successes: Int32 = 0
  private var blindRounds: Int32 = 0
  private var egress: Egress?
  private var waiting: Waiting?
  /// Whether the status was restored and no evidence has borne it out.
  private var isUnconfirmed = false

  /// A target of which nothing is known; its statuses are counted from the one after `sequence`.
  public init(sequence: UInt64 = 0, rawChanges: UInt32 = 0) {
    state = TargetState(sequence: sequence)
    self.rawChanges = rawChanges
  }

  /// A target that stood so when it was last watched. A state without a beginning is none.
  ///
  /// `now` is monotonic time, `wall` the same moment in nanoseconds since 1970 UTC; when the status began by the wall
  /// clock after that, it began now.
  public init(restoring state: TargetState, rawChanges: UInt32 = 0, at now: Instant, wall: Int64) {
    self.init(sequence: state.sequence, rawChanges: rawChanges)
    guard let since = state.since else { return }
    self.state = state
    self.state.isStale = true
    isUnconfirmed = true
    let (age, overflow) = wall.subtractingReportingOverflow(since)
    began = now.advanced(byNanoseconds: -max(0, overflow ? 0 : age))
    if state.verdict.hasEgress { egress = Egress(state.verdict.path) }
  }

  /// The interface that packets for the target last left by, with no more of the path; nil when none ever did.
  public var lastEgress: ReachabilityPath? { egress?.path }

  /// When a path verdict will have lasted for `hold`: the moment to call `elapse`. Nil while none waits.
  public var holdEnds: Instant? { waiting?.ends }

  /// Whether the newest evidence tells of another status than the one that is published, which `fall`, `rise` or `hold`
  /// keeps for now.
  public var isDamped: Bool {
    state.since != nil && state.verdict.status != .unknown && rawStatus != .unknown && rawStatus != state.verdict.status
  }

  /// Takes a finished round's verdict.
  ///
  /// `now` is monotonic time, `wall` the same moment in nanoseconds since 1970 UTC.
  public mutating func absorb(
    _ verdict: Verdict, under policy: TargetPolicy, at now: Instant, wall: Int64
  ) -> TargetUpdate {
    let weight = verdict.weight
    if weight == .none { return absorbNothing(verdict, policy, now, wall) }
    blindRounds = 0
    return absorb(verdict, weight, policy, now, wall)
  }

  /// Takes note that a round's result was dropped, since the path changed while it ran; `nothing` is Unknown, for the
  /// reason that would then hold. What rests on the path alone, looks see to; anything else has one round less to rest on.
  public mutating func absorb(
    dropped nothing: Verdict, under policy: TargetPolicy, at now: Instant, wall: Int64
  ) -> TargetUpdate {
    let isKnown = state.verdict.status != .unknown
    return isKnown && state.verdict.restsOnPathAlone ? .none : absorbNothing(nothing, policy, now, wall)
  }

  /// Takes the verdict on a look at the path between rounds, in which all that lies beyond this host is as the last round
  /// saw it. A path that came and went since the last look has not been broken for all that time, so that `hold` begins
  /// anew.
  public mutating func absorb(
    look verdict: Verdict, hasFlapped: Bool = false, under policy: TargetPolicy, at now: Instant, wall: Int64
  ) -> TargetUpdate {
    let weight = verdict.weight
    if hasFlapped { waiting = nil }
    if weight == .none, !verdict.hasClearPath { return .none }
    if weight != .none, verdict.restsOnPathAlone {
      // As fresh as a round's: those that told nothing are counted from here.
      blindRounds = 0
      return absorb(verdict, weight, policy, now, wall)
    }
    // The path is there. Whether the peer is, only a round can tell.
    waiting = nil
    let old = state.verdict
    if old.status.isReachable {
      guard weight == .success else { return stand(isStale: state.isStale && isBlind) }
      return isBlind ? .none : publish(verdict, now, wall)
    }
    return old.status == .notReachable && old.restsOnPathAlone ? stand(isStale: true) : .none
  }

  private mutating func absorb(
    _ verdict: Verdict, _ weight: Weight, _ policy: TargetPolicy, _ now: Instant, _ wall: Int64
  ) -> TargetUpdate {
    switch weight {
    case .success:
      failures = 0
      successes.count()
    case .tentative:
      failures.count()
      successes = 0
    case .none, .path, .final: successes = 0
    }
    if verdict.status != rawStatus {
      if rawStatus != .unknown { rawChanges &+= 1 }
      rawStatus = verdict.status
    }
    if counts(verdict, weight, policy) { return publish(verdict, now, wall) }
    if weight == .path { return wait(verdict, policy, now, wall) }
    waiting = nil
    return state.verdict.status == .unknown ? stayUnknown(like: verdict) : stand(isStale: isUnconfirmed)
  }

  /// Publishes the path verdict that waits, when it has lasted for `hold`.
  public mutating func elapse(at now: Instant, wall: Int64) -> TargetUpdate {
    guard let waiting, waiting.ends <= now else { return .none }
    return publish(waiting.verdict, now, wall)
  }

  // MARK: Deciding

  /// Whether nothing has been seen lately that a status could rest on.
  private var isBlind: Bool { blindRounds > 0 || isUnconfirmed }

  /// Whether a verdict that says something is published as it comes.
  private func counts(_ verdict: Verdict, _ weight: Weight, _ policy: TargetPolicy) -> Bool {
    let status = state.verdict.status
    switch weight {
    case .success: return status != .notReachable || Int(successes) >= policy.rise
    case .tentative: return status == .notReachable || Int(failures) >= policy.fall
    case .path: return !status.isReachable || policy.hold <= .zero
    case .none, .final: return true
    }
  }

  private mutating func absorbNothing(
    _ verdict: Verdict, _ policy: TargetPolicy, _ now: Instant, _ wall: Int64
  ) -> TargetUpdate {
    if let waiting, waiting.ends <= now { return publish(waiting.verdict, now, wall) }
    blindRounds.count()
    let isPatienceOver = Int(blindRounds) > policy.unknownAfter
    if state.verdict.status != .unknown {
      return isPatienceOver ? publish(verdict, now, wall) : stand(isStale: true)
    }
    let isFirst = (state.since == nil || isUnconfirmed) && (isPatienceOver || verdict.isBeyondWaiting)
    return isFirst ? publish(verdict, now, wall) : stayUnknown(like: verdict)
  }

  /// The status stands while a path verdict has not lasted long enough.
  private mutating func wait(
    _ verdict: Verdict, _ policy: TargetPolicy, _ now: Instant, _ wall: Int64
  ) -> TargetUpdate {
    let ends = waiting?.ends ?? now.advanced(by: policy.hold)
    if ends <= now { return publish(verdict, now, wall) }
    waiting = Waiting(verdict, until: ends)
    return stand(isStale: true)
  }

  // MARK: Publishing

  private mutating func stand(isStale: Bool) -> TargetUpdate {
    guard state.isStale != isStale else { return .none }
    state.isStale = isStale
    return TargetUpdate(isStateChanged: true, events: [])
  }

  /// Unknown as before, for the reason that is now at hand.
  private mutating func stayUnknown(like verdict: Verdict) -> TargetUpdate {
    var unknown = verdict
    unknown.flags = nil
    unknown.status = .unknown
    guard unknown != state.verdict else { return .none }
    state.verdict = unknown
    return TargetUpdate(isStateChanged: true, events: [])
  }

  private mutating func publish(_ verdict: Verdict, _ now: Instant, _ wall: Int64) -> TargetUpdate {
    waiting = nil
    let old = state.verdict
    let isFirst = state.since == nil
    let isConfirmation = isUnconfirmed && old.status == verdict.status
    isUnconfirmed = false
    if !isFirst, !isConfirmation, old == verdict { return stand(isStale: false) }
    var update = TargetUpdate(isStateChanged: true, events: [])
    if isFirst || old.status != verdict.status {
      let change = begin(verdict, isFirst ? nil : old.status, now, wall)
      update.events.append(isFirst ? .initial(change) : .changed(change))
    } else if isConfirmation {
      let change = StatusChange(
        sequence: state.sequence, at: state.since ?? wall, from: nil, to: verdict, inPrevious: nil)
      update.events.append(.initial(change))
    } else if let flags = old.flags, flags != verdict.flags {
      update.events.append(.flagsChanged(from: flags, to: verdict))
    }
    if verdict.hasEgress {
      if let egress, !egress.isSame(verdict.path) {
        update.events.append(.pathChanged(from: egress.path, to: verdict.path))
      }
      egress = Egress(verdict.path)
    }
    state.verdict = verdict
    state.isStale = false
    return update
  }

  /// Starts the clock and the number of a new status.
  private mutating func begin(
    _ verdict: Verdict, _ old: Status?, _ now: Instant, _ wall: Int64
  ) -> StatusChange {
    let lasted = began.map { max(.zero, now.since($0)) }
    state.sequence &+= 1
    state.since = wall
    began = now
    return StatusChange(sequence: state.sequence, at: wall, from: old, to: verdict, inPrevious: lasted)
  }
}

/// A path verdict that has not lasted long enough. A reference, so that a target pays for it only while there is one.
private final class Waiting: Sendable {
  let verdict: Verdict
  let ends: Instant

  init(_ verdict: Verdict, until ends: Instant) {
    self.verdict = verdict
    self.ends = ends
  }
}

/// The last egress interface.
private struct Egress {
  let name: String
  let index: Int32
  let medium: Medium?

  init(_ path: ReachabilityPath) {
    name = path.interface
    index = path.interfaceIndex
    medium = path.medium
  }

  var path: ReachabilityPath { ReachabilityPath(interface: name, interfaceIndex: index, medium: medium) }

  /// By index, which a renamed interface keeps; by name where there is none.
  func isSame(_ path: ReachabilityPath) -> Bool {
    index != 0 && path.interfaceIndex != 0 ? index == path.interfaceIndex : name == path.interface
  }
}

extension Int32 {
  /// One more, as long as there is room.
  fileprivate mutating func count() { if self < .max { self += 1 } }
}
