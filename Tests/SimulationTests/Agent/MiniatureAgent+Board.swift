import ReachCore

@testable import ReachAggregator
@testable import ReachMetrics
@testable import ReachScheduler

/// How one target stands.
struct Standing {
  let target: Target
  var judge = TargetJudge()
  var series: TargetSeries
  var lastFault: Reason?
  /// What the newest judgement had to say of what targets share, and when that was learned.
  var account: (evidence: CauseEvidence?, began: Instant) = (nil, .distantFuture)
  /// How often a look has found the path to be another one.
  var pathChanges = 0

  init(_ runner: RoundRunner, at now: Instant) {
    target = runner.target
    let probes = runner.probes.map { ProbeDescription(name: $0.name, layer: $0.layer) }
    series = TargetSeries(target: runner.target, probes: probes, detail: .compact, at: now)
  }
}

/// What `TargetBoard` and `CauseBoard` do with what the scheduler tells.
extension MiniatureAgent {
  func skipped(_ rounds: Int, _ tag: Int) {
    standings[tag].series.recordSkipped(rounds: rounds)
    let policy = standings[tag].target.policy
    let nothing = Verdict(flags: nil, rule: policy.statusRule, reason: standings[tag].lastFault ?? .notProbed)
    standings[tag].account = (nil, .distantFuture)
    judge(tag, from: .skip) { $0.absorb(nothing, under: policy, at: instant, wall: wall) }
    tellCauses(causes.settle(at: instant))
  }

  func finished(_ report: RoundReport, _ tag: Int) {
    let target = standings[tag].target
    let verdict = Judge.verdict(on: report.findings, of: target)
    standings[tag].series.record(report)
    standings[tag].lastFault = verdict.flags == nil ? verdict.reason : nil
    let evidence = CauseEvidence(verdict, on: report.findings, of: target) { lostEgress(tag) }
    standings[tag].account = (evidence, report.startedAt)
    judge(tag, from: .round(report.startedAt, verdict)) {
      $0.absorb(verdict, under: target.policy, at: report.finishedAt, wall: wall)
    }
    tellCauses(causes.settle(at: instant))
  }

  func looked(_ look: PathLook, _ tag: Int) {
    let target = standings[tag].target
    let verdict = Judge.verdict(on: look.findings, of: target)
    let evidence = CauseEvidence(verdict, on: look.findings, of: target, isPathOnly: true) { lostEgress(tag) }
    standings[tag].account = (evidence, look.at)
    judge(tag, from: .look(verdict)) {
      $0.absorb(look: verdict, hasFlapped: look.hasFlapped, under: target.policy, at: look.at, wall: wall)
    }
  }

  func lookEnded() {
    auditor.lookEnded(at: now)
    tellCauses(causes.endSweep(at: instant))
  }

  func outdated(_ tag: Int) {
    standings[tag].series.recordSkipped(rounds: 1)
    let policy = standings[tag].target.policy
    let nothing = Verdict(flags: nil, rule: policy.statusRule, reason: standings[tag].lastFault ?? .notProbed)
    standings[tag].account = (nil, .distantFuture)
    judge(tag, from: .dropped) { $0.absorb(dropped: nothing, under: policy, at: instant, wall: wall) }
    tellCauses(causes.settle(at: instant))
  }

  func holdEnded(_ tag: Int) {
    judge(tag, from: .hold) { $0.elapse(at: instant, wall: wall) }
    tellCauses(causes.settle(at: instant))
  }

  /// The interface that the target last left by, if it is of no use now.
  private func lostEgress(_ tag: Int) -> String? {
    guard let egress = standings[tag].judge.lastEgress else { return nil }
    let link = linkFinding(index: egress.interfaceIndex) ?? linkFinding(named: egress.interface)
    switch link.state {
    case .usable, .dormant: return nil
    case .down, .noCarrier, .lowerLayerDown, .missing: return link.interface
    }
  }

  private func judge(_ tag: Int, from origin: Auditor.Origin, _ body: (inout TargetJudge) -> TargetUpdate) {
    let before = standings[tag].judge
    let update = body(&standings[tag].judge)
    let after = standings[tag].judge
    let account = standings[tag].account
    causes.note(tag, after.state.verdict.status, account.evidence, began: account.began, at: instant)
    let hasSameDamping = before.rawChanges == after.rawChanges && before.isDamped == after.isDamped
    if update.isStateChanged || !update.events.isEmpty || !hasSameDamping {
      for event in update.events { standings[tag].series.record(event) }
      standings[tag].series.update(after.state, at: instant)
      standings[tag].series.setDamping(rawChanges: after.rawChanges, isFlapping: after.isDamped)
    }
    keep(update.events, of: tag)
    auditor.judged(tag, from: origin, before, update, after, at: now, wall: wall)
  }

  func tellCauses(_ changes: [CauseChange]) {
    for change in changes { auditor.told(change, of: standings) }
    auditor.checkCauses(standings)
  }
}
