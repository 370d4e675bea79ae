import ReachCore

@testable import ReachAggregator

extension Auditor {
  /// A change of causes was told.
  func told(_ change: CauseChange, of standings: [Standing]) {
    note("\(change)")
    switch change {
    case .announced(let report):
      tally.causes += 1
      if !announced.insert(report.id).inserted { fail(nil, "\(report.id), \(report.cause), is announced again") }
      // A route that is lost later is a fault of its own.
      let isRoute = if case .route = report.cause { true } else { false }
      if !isRoute, causes.values.contains(report.cause) { fail(nil, "\(report.cause) is announced twice") }
      causes[report.id] = report.cause
      if report.targets.count < 2 { fail(nil, "\(report.cause) explains \(report.targets.count) target") }
      if report.targets != report.targets.sorted() { fail(nil, "targets in no order") }
      for key in report.targets { checkMember(key, report, standings) }
    case .cleared(let report, let lasted):
      if causes.removeValue(forKey: report.id) != report.cause {
        fail(nil, "\(report.cause) is cleared, not announced")
      }
      if lasted < .zero { fail(nil, "\(report.cause) lasted \(lasted)") }
    case .assigned(let key, let cause):
      if let cause, !causes.values.contains(cause) { fail(key, "fails for \(cause), which was not announced") }
      if assigned[key] == cause { fail(key, "is assigned to the same cause") }
      assigned[key] = cause
    }
  }

  private func checkMember(_ key: Int, _ report: CauseReport, _ standings: [Standing]) {
    let verdict = standings[key].judge.state.verdict
    if verdict.status != .notReachable { fail(key, "\(report.cause) explains \(verdict.status)") }
    if case .host = books[key].target.kind { return }
    let age: Int64 = trouble.isDisjoint(with: [.loss, .faults, .stall, .stuck]) ? 30 : 90
    let isFresh = !books[key].isGood || books[key].lastBadAt >= now - age * Time.second - 2 * books[key].patience
    if !isFresh { fail(key, "is well, and \(report.cause) explains it") }
  }

  /// What must hold whenever changes of causes have been told.
  func checkCauses(_ standings: [Standing]) {
    for (key, cause) in assigned {
      let verdict = standings[key].judge.state.verdict
      if verdict.status != .notReachable { fail(key, "fails for \(cause) and is \(verdict.status)") }
      if !causes.values.contains(cause) { fail(key, "fails for \(cause), which is at no fault") }
    }
    for cause in causes.values where !assigned.values.contains(cause) { fail(nil, "nobody fails for \(cause)") }
  }
}

extension Auditor.Book {
  /// The longest that a failure may stand without a round that tells of it.
  fileprivate var patience: Int64 {
    let policy = target.policy
    return policy.interval.nanoseconds * Int64(1 + policy.unknownAfter + policy.rise) + policy.timeout.nanoseconds
  }
}
