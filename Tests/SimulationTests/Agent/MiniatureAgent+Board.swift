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
  /// How often a look has found the path to be another one.
  var pathChanges = 0

  init(_ runner: RoundRunner, at now: Instant) {
    target = runner.target
    let probes = runner.probes.map { ProbeDescription(name: $0.name, layer: $0.layer) }
    series = TargetSeries(target: runner.target, probes: probes, detail: .compact, at: now)
  }
}

/// What `TargetBoard` does with what the scheduler tells.
extension MiniatureAgent {
  func skipped(_ rounds: Int, _ tag: Int) {
    standings[tag].series.recordSkipped(rounds: rounds)
    let policy = standings[tag].target.policy
    let nothing = Verdict(flags: nil, rule: policy.statusRule, reason: standings[tag].lastFault ?? .notProbed)
    judge(tag, from: .skip) { $0.absorb(nothing, under: policy, at: instant, wall: wall) }
  }

  func finished(_ report: RoundReport, _ tag: Int) {
    let target = standings[tag].target
    let verdict = Judge.verdict(on: report.findings, of: target)
    standings[tag].series.record(report)
    standings[tag].lastFault = verdict.flags == nil ? verdict.reason : nil
    judge(tag, from: .round(report.startedAt, verdict)) {
      $0.absorb(verdict, under: target.policy, at: report.finishedAt, wall: wall)
    }
  }

  func looked(_ look: PathLook, _ tag: Int) {
    let target = standings[tag].target
    let verdict = Judge.verdict(on: look.findings, of: target)
    judge(tag, from: .look(verdict)) { $0.absorb(look: verdict, under: target.policy, at: look.at, wall: wall) }
  }

  func outdated(_ tag: Int) { standings[tag].series.recordSkipped(rounds: 1) }

  func holdEnded(_ tag: Int) { judge(tag, from: .hold) { $0.elapse(at: instant, wall: wall) } }

  private func judge(_ tag: Int, from origin: Auditor.Origin, _ body: (inout TargetJudge) -> TargetUpdate) {
    let before = standings[tag].judge
    let update = body(&standings[tag].judge)
    let after = standings[tag].judge
    let hasSameDamping = before.rawChanges == after.rawChanges && before.isDamped == after.isDamped
    if update.isStateChanged || !update.events.isEmpty || !hasSameDamping {
      for event in update.events { standings[tag].series.record(event) }
      standings[tag].series.update(after.state, at: instant)
      standings[tag].series.setDamping(rawChanges: after.rawChanges, isFlapping: after.isDamped)
    }
    auditor.judged(tag, from: origin, before, update, after, at: now, wall: wall)
  }
}
