internal import ReachCore

extension SchedulerCore {
  /// Begins a look if one is due, or goes on with one that is stuck.
  mutating func beginLook(at now: Instant) -> UInt32? {
    guard !keys.isEmpty, let number = looking.begin(over: slots, at: now) else { return nil }
    counts.looks &+= 1
    // First rounds have no path to compare with.
    if looking.changedAt != nil {
      for case .some(let slot) in slots where slot.kept == nil { schedule.doubt(slot.key) }
    }
    return number
  }

  /// Keeps what a round leaves for looks at the path.
  mutating func keep(_ findings: RoundFindings, of key: SchedulerState.Key, at now: Instant) {
    guard slot(of: key) != nil else { return }
    slots[Int(key.index)]?.kept = KeptFindings(findings, at: now)
  }

  /// Takes in what a look saw. Returns what is to be told of it; nil when it has been overtaken.
  mutating func renew(
    _ key: SchedulerState.Key, _ kept: KeptFindings, _ findings: RoundFindings, _ number: UInt32, at now: Instant
  ) -> PathLook? {
    guard looking.isCurrent(number), let slot = slot(of: key), slot.kept?.seenAt == kept.seenAt else { return nil }
    let look = PathLook(
      findings: findings, at: now, changedAt: looking.changedAt, hasFlapped: looking.hasFlapped(kept.path.egress))
    // A lookup that failed says nothing of the path.
    guard findings.fault == nil, !findings.candidates.contains(where: \.isRouteUnknown) else { return look }
    var kept = kept
    if kept.renew(findings.candidates, at: now) {
      if schedule.pathChanged(key, at: now) { slot.task?.cancel() }
    }
    slots[Int(key.index)]?.kept = kept
    return look
  }
}

extension Candidate {
  /// Whether the route was asked for in vain.
  fileprivate var isRouteUnknown: Bool { if case .fault? = route?.decision { true } else { false } }
}
