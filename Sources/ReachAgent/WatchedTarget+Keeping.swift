internal import ReachAggregator
internal import ReachCore
internal import ReachIO
internal import ReachMetrics
internal import ReachState

/// What of a target outlives the agent.
extension WatchedTarget {
  /// The target as it stands, in what is kept of it at every change.
  func record(of state: TargetState) -> TargetRecord {
    var totals = TransitionTotals()
    series.withState { series in
      for status in Status.allCases { totals[status] = series.transitions(into: status) }
    }
    return TargetRecord(target, state: state, totals: totals)
  }

  /// The same with all its counters, which are kept at a clean stop.
  func fullRecord(at now: Instant) -> TargetRecord {
    var record = record(of: standing.withState { $0.judge.state })
    record.counters = series.withState { $0.counters(at: now) }.map { KeptCounter($0.name, $0.value) }
    return record
  }
}

extension TargetSeries {
  /// Goes on from what was kept of the target.
  mutating func restore(_ restored: RestoredTarget, at now: Instant) {
    restore(restored.counters.map { ($0.name, $0.value) }) { restored.totals[$0] }
    if let state = restored.state { update(state, at: now) }
  }
}

extension TargetJudge {
  /// A judge that goes on from what was kept of the target and what of its series was.
  init(_ restored: RestoredTarget, rawChanges: UInt32, at now: Instant, wall: Int64) {
    if let state = restored.state {
      self.init(restoring: state, rawChanges: rawChanges, at: now, wall: wall)
    } else {
      self.init(sequence: restored.sequence, rawChanges: rawChanges)
    }
  }
}
