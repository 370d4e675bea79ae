import ReachCore
import ReachProbe

@testable import ReachScheduler

/// A round that runs.
struct LiveRound {
  let round: SchedulerState.Round
  let tag: Int
  /// How often the target's path had changed when it began.
  let pathChanges: Int
  var progress = RoundProgress()
  /// The place of the probe that runs.
  var place = 0
  /// Tells what it waits for now from what it waited for before.
  var step: UInt32 = 0
  var waitsFor: Waiting?
  var isCancelled = false

  enum Waiting {
    case resolution(World.Question)
    case connections(World.Attempt)
  }
}

/// The moment at which a round goes on.
struct RoundEnd {
  let key: SchedulerState.Key
  let number: UInt32
  let step: UInt32
}

extension MiniatureAgent {
  /// As `Scheduler.start`.
  func start(_ round: SchedulerState.Round) {
    guard let slot = core.slot(of: round.key) else { return }
    core.unfinished += 1
    core.counts.started &+= 1
    auditor.started(round, slot.tag, among: rounds)
    var live = LiveRound(round: round, tag: slot.tag, pathChanges: standings[slot.tag].pathChanges)
    let runner = slot.runner
    let candidates = RoundRunner.candidates(of: runner.target.kind, defaultPath: runner.host.defaultPath)
    live.progress.begin(runner.probeSet, candidates: candidates, runs: runner.probes.count, at: instant)
    run(live)
  }

  /// As `RoundRunner.run`, as far as it comes without waiting.
  private func run(_ live: consuming LiveRound) {
    var live = live
    let runner = runners[live.tag]
    while live.place < runner.probes.count {
      let probe = runner.probes[live.place]
      if let context = runner.context(for: probe, until: live.round.deadline, in: &live.progress, log: nil) {
        guard let answer = ask(probe, runner.target, context, &live) else { return wait(live) }
        absorb(answer, of: probe, runner, &live)
      }
      live.place += 1
    }
    lookAgain(runner, &live)
    end(live)
  }

  private func absorb(
    _ answer: Result<Evidence, LocalFault>, of probe: PlannedProbe, _ runner: RoundRunner, _ live: inout LiveRound
  ) {
    switch answer {
    case .success(let evidence): runner.absorb(evidence, of: probe, into: &live.progress)
    case .failure(let fault): runner.absorb(fault, of: probe, into: &live.progress)
    }
  }

  /// What the probe has seen; nil when it has to wait for that.
  private func ask(
    _ probe: PlannedProbe, _ target: Target, _ context: ProbeContext, _ live: inout LiveRound
  ) -> Result<Evidence, LocalFault>? {
    switch probe.layer {
    case .route, .link: return pathEvidence(probe.layer, target, context.candidates)
    case .dns:
      guard case .host(let name) = target.kind else { return .failure(LocalFault(.notProbed)) }
      switch world.resolve(name.query, target.policy, at: now, until: context.deadline.nanoseconds) {
      case .known(let finding): return .success(.dns(finding))
      case .asked(let question):
        if question.due <= now { return .success(.dns(world.outcome(of: question, at: now))) }
        live.waitsFor = .resolution(question)
        return nil
      }
    default:
      var attempt = world.connect(
        context.candidates, scope: target.source.interface, at: now, until: context.deadline.nanoseconds)
      if !attempt.isStuck, let findings = world.outcome(of: &attempt, at: now) { return .success(.tcp(findings)) }
      live.waitsFor = .connections(attempt)
      return nil
    }
  }

  private func wait(_ live: consuming LiveRound) {
    var live = live
    live.step &+= 1
    let due: Int64
    switch live.waitsFor {
    case .resolution(let question): due = question.due
    case .connections(let attempt): due = attempt.isStuck ? world.stuckUntil : attempt.due
    case nil: due = now
    }
    ends.enter(RoundEnd(key: live.round.key, number: live.round.number, step: live.step), at: max(due, now + 1))
    rounds.append(live)
  }

  /// A round goes on.
  func proceed(_ end: RoundEnd) {
    guard
      let index = rounds.firstIndex(where: {
        $0.round.key == end.key && $0.round.number == end.number && $0.step == end.step
      })
    else { return }
    var live = rounds.remove(at: index)
    if case .connections(var attempt) = live.waitsFor, attempt.isStuck {
      guard world.stuckUntil <= now else { return wait(live) }
      attempt.isStuck = false
      live.waitsFor = .connections(attempt)
    }
    if live.isCancelled { return self.end(live) }
    let evidence: Evidence
    switch live.waitsFor {
    case .resolution(let question): evidence = .dns(world.outcome(of: question, at: now))
    case .connections(var attempt):
      guard let findings = world.outcome(of: &attempt, at: now) else {
        live.waitsFor = .connections(attempt)
        return wait(live)
      }
      evidence = .tcp(findings)
    case nil: return
    }
    live.waitsFor = nil
    let runner = runners[live.tag]
    runner.absorb(evidence, of: runner.probes[live.place], into: &live.progress)
    live.place += 1
    run(live)
  }

  /// As `RoundRunner.lookAgain`.
  private func lookAgain(_ runner: RoundRunner, _ live: inout LiveRound) {
    guard live.progress.findings.candidates.contains(where: \.hasFailedOnTheWay) else { return }
    for probe in runner.probes where probe.layer == .route || probe.layer == .link {
      let answer = pathEvidence(probe.layer, runner.target, live.progress.findings.candidates)
      if case .success(let evidence) = answer { live.progress.findings.replacePath(evidence) }
    }
  }

  /// As a task's cancellation: the backend comes back soon, unless it is stuck.
  func cancelRound(_ key: SchedulerState.Key) {
    guard let index = rounds.lastIndex(where: { $0.round.key == key }) else { return }
    rounds[index].isCancelled = true
    if case .connections(let attempt) = rounds[index].waitsFor, attempt.isStuck { return }
    resume(index)
  }

  /// Has every connection and resolution under way be looked at now.
  func resumeAll() {
    for index in rounds.indices {
      if case .connections(let attempt) = rounds[index].waitsFor, attempt.isStuck { continue }
      resume(index)
    }
  }

  private func resume(_ index: Int) {
    rounds[index].step &+= 1
    let live = rounds[index]
    ends.enter(RoundEnd(key: live.round.key, number: live.round.number, step: live.step), at: now)
  }

  /// As `Scheduler.ended`.
  private func end(_ live: consuming LiveRound) {
    var live = live
    let round = live.round
    noticeSuspend()
    if let outcome = core.ended(round, at: instant) {
      auditor.ended(live, outcome.disposition, pathChanges: standings[live.tag].pathChanges)
      switch outcome.disposition {
      case .report:
        let report = live.progress.takeReport(at: instant)
        core.keep(report.findings, of: round.key, at: instant)
        finished(report, outcome.tag)
      case .outdated: outdated(outcome.tag)
      case .starved: skipped(1, outcome.tag)
      case .late: break
      }
    }
    perform(core.takeActions())
  }

  /// As `Scheduler.giveUp`.
  func giveUp(_ key: SchedulerState.Key, _ number: UInt32) {
    guard let slot = core.gaveUp(key),
      let index = rounds.firstIndex(where: { $0.round.key == key && $0.round.number == number })
    else { return }
    auditor.gaveUp(slot.tag)
    if core.schedule.isOutdated(key) { rounds[index].progress.forgetFindings() }
    let report = rounds[index].progress.takeOverrunReport(of: slot.runner.probes, at: instant)
    rounds[index].isCancelled = true
    if case .connections(let attempt) = rounds[index].waitsFor, attempt.isStuck {} else { resume(index) }
    finished(report, slot.tag)
  }
}
