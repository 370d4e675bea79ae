internal import ReachAggregator
internal import ReachCore
internal import ReachIO
internal import ReachLog
internal import ReachMetrics
internal import ReachScheduler
internal import ReachState

/// Where every target stands: takes the rounds as they end, has them judged, counts them, and says what changed.
///
/// Isolation: on the event loop.
final class TargetBoard: Sendable {
  /// A target's key is its tag in the scheduler.
  let roster: LoopConfined<Roster>
  /// What is counted of the agent itself.
  let agent: LoopConfined<AgentSeries>

  private let causes: CauseBoard
  let loop: EventLoop
  let log: Logger
  private let said: TargetLog
  private let store: StateStore
  private let readiness: LoopConfined<Readiness>
  let selfChecks: LoopConfined<SelfChecks>
  /// What is to be said when targets wait for their turn for longer than their interval.
  private let crowding: SelfChecks.Trouble
  private let onReady: @Sendable () -> Void

  private struct Readiness {
    /// Targets whose first round has not ended.
    var awaited = 0
    /// Once ready the agent stays so, whatever is added.
    var isReached = false
  }

  /// A board without targets; `onReady` is called once, when every target of the first set has had its first round.
  init(
    agent: AgentSeries, budget: DescriptorBudget, loop: EventLoop, log: Logger, store: StateStore,
    onReady: @escaping @Sendable () -> Void = {}
  ) {
    roster = LoopConfined(Roster(), on: loop)
    let said = TargetLog(log: log, store: store)
    causes = CauseBoard(roster, loop: loop, log: said)
    self.said = said
    self.agent = LoopConfined(agent, on: loop)
    self.loop = loop
    self.log = log
    self.store = store
    readiness = LoopConfined(Readiness(), on: loop)
    selfChecks = LoopConfined(SelfChecks(), on: loop)
    crowding = budget.crowding
    self.onReady = onReady
    store.onLoss { [weak self] in self?.records ?? [] }
  }

  /// Every target: those of the configuration in its order, then those that were discovered.
  var targets: [WatchedTarget] { roster.withState { $0.all } }

  /// Every target as it stands, with all that is kept at a clean stop.
  var records: [TargetRecord] {
    let now = loop.now()
    return targets.map { $0.fullRecord(at: now) }
  }

  /// Whether every target has had its first round.
  var isReady: Bool { readiness.withState { $0.isReached } }

  /// Takes what the scheduler tells of the target with this tag.
  func observe(_ tag: Int, _ event: SchedulerEvent) {
    guard let watched = roster.withState({ $0[tag] }) else { return }
    switch event {
    case .started(let lag): agent.withState { $0.scheduleLag.record(lag) }
    case .skipped(let rounds): skipped(rounds, of: watched)
    case .crowdedOut(let rounds): crowdedOut(rounds, of: watched)
    case .finished(let report): finished(report, of: watched)
    case .looked(let look): looked(look, at: watched)
    case .outdated: outdated(watched)
    }
  }

  private func skipped(_ rounds: Int, of watched: WatchedTarget) {
    count(skipped: rounds, of: watched)
    // A round that brought no evidence counts towards `unknown_after` like one that could not be probed.
    judgeNothing(of: watched) { judge, nothing, now, wall in
      judge.absorb(nothing, under: watched.target.policy, at: now, wall: wall)
    }
  }

  private func count(skipped rounds: Int, of watched: WatchedTarget) {
    agent.withState { $0.roundsSkipped &+= UInt64(max(0, rounds)) }
    watched.series.withState { $0.recordSkipped(rounds: rounds) }
  }

  /// Has a round judged that told nothing. The reason of a fault that stands already stays.
  private func judgeNothing(
    of watched: WatchedTarget, _ absorb: (inout TargetJudge, Verdict, Instant, Int64) -> TargetUpdate
  ) {
    let wall = WallClock.nanosecondsSinceEpoch()
    judge(watched, .nothing, at: loop.now()) { standing, now in
      let nothing = Verdict(
        flags: nil, rule: watched.target.policy.statusRule, reason: standing.lastFault ?? .notProbed)
      return absorb(&standing.judge, nothing, now, wall)
    }
    causes.settle()
  }

  /// The target's turn has not come. That is no evidence of anything, and none is missing: its status stands until then.
  private func crowdedOut(_ rounds: Int, of watched: WatchedTarget) {
    count(skipped: rounds, of: watched)
    note(crowding, target: watched.target.name)
  }

  private func finished(_ report: RoundReport, of watched: WatchedTarget) {
    let wall = WallClock.nanosecondsSinceEpoch()
    let target = watched.target
    let verdict = Judge.verdict(on: report.findings, of: target)
    watched.series.withState { $0.record(report, wall: wall) }
    noteTroubles(in: report, of: watched)
    if log.isEnabled(.debug) {
      for run in report.runs { log.log(.probeFinished(target: target, run: run)) }
    }
    var isFirst = false
    let evidence = CauseEvidence(verdict, on: report.findings, of: target) { watched.lostEgress }
    judge(watched, Account(evidence, began: report.startedAt), at: report.finishedAt) { standing, now in
      isFirst = !standing.hasFinishedRound
      standing.hasFinishedRound = true
      standing.keep(report.runs, of: watched.runner.probes, at: wall)
      standing.lastFault = verdict.flags == nil ? verdict.reason : nil
      return standing.judge.absorb(verdict, under: target.policy, at: now, wall: wall)
    }
    causes.settle()
    if isFirst { noteFirstRound() }
  }

  /// The path was looked at between rounds. What is shared with other targets is told when all have been looked at.
  private func looked(_ look: PathLook, at watched: WatchedTarget) {
    let wall = WallClock.nanosecondsSinceEpoch()
    let target = watched.target
    let verdict = Judge.verdict(on: look.findings, of: target)
    let evidence = CauseEvidence(verdict, on: look.findings, of: target, isPathOnly: true) { watched.lostEgress }
    let hasChanged = judge(watched, Account(evidence, began: look.at), at: look.at) { standing, now in
      standing.judge.absorb(
        look: verdict, hasFlapped: look.hasFlapped, under: target.policy, at: now, wall: wall)
    }
    if hasChanged, let changedAt = look.changedAt {
      agent.withState { $0.eventToStatus.record(loop.now().since(changedAt)) }
    }
  }

  /// Every target has been told of a look at its path.
  func lookEnded() { causes.endLook() }

  /// A round's result was dropped, since the path changed while it ran. What the path is now has been judged; whether the
  /// peer answers has not.
  private func outdated(_ watched: WatchedTarget) {
    count(skipped: 1, of: watched)
    judgeNothing(of: watched) { judge, nothing, now, wall in
      judge.absorb(dropped: nothing, under: watched.target.policy, at: now, wall: wall)
    }
  }

  private func noteFirstRound() {
    let isLast = readiness.withState { readiness in
      guard !readiness.isReached else { return false }
      readiness.awaited -= 1
      readiness.isReached = readiness.awaited <= 0
      return readiness.isReached
    }
    if isLast { onReady() }
  }

  // MARK: Other targets

  /// Has these targets watched from now on, instead of those of the same origin and of `removed`. Those among them that
  /// were watched before are the same objects, or have `replaced` one of that key.
  func set(
    _ origin: Roster.Origin, to targets: [WatchedTarget], removing removed: [WatchedTarget],
    replacing replaced: [WatchedTarget] = []
  ) {
    for old in removed + replaced {
      let timer = old.standing.withState { standing in
        defer { standing.holdTimer = nil }
        return standing.holdTimer
      }
      if let timer { loop.cancel(timer) }
    }
    roster.withState { $0.set(origin, to: targets, removing: removed) }
    let known = Set(replaced.map(\.key))
    for watched in targets where known.contains(watched.key) {
      watched.standing.withState { waitForHold(&$0, of: watched, .nothing) }
    }
    // One that asks something else starts as one of which nothing is known.
    let reborn = targets.filter { known.contains($0.key) && !$0.standing.withState { $0.hasFinishedRound } }
    causes.remove((removed + reborn).map(\.key))
    causes.settle()
    store.expect(targets: roster.withState { $0.count })
    awaitFirstRounds()
  }

  private func awaitFirstRounds() {
    let awaited = targets.count { !$0.standing.withState { $0.hasFinishedRound } }
    let isNews = readiness.withState { readiness in
      readiness.awaited = awaited
      defer { readiness.isReached = readiness.isReached || awaited == 0 }
      return !readiness.isReached && awaited == 0
    }
    if isNews { onReady() }
  }

  /// A path verdict that waited has lasted for the target's `hold`.
  private func holdEnded(of watched: WatchedTarget, _ account: Account) {
    let wall = WallClock.nanosecondsSinceEpoch()
    judge(watched, account, at: loop.now()) { standing, now in
      standing.holdTimer = nil
      return standing.judge.elapse(at: now, wall: wall)
    }
    causes.settle()
  }

  /// The one way a target's standing changes: has `body` change it, then publishes and logs what came of that, and sees
  /// to it that a path verdict that waits is come back to. Returns whether the status is another than before.
  @discardableResult
  private func judge(
    _ watched: WatchedTarget, _ account: Account, at now: Instant,
    _ body: (inout WatchedTarget.Standing, Instant) -> TargetUpdate
  ) -> Bool {
    var (update, before, after) = watched.standing.withState { standing in
      let before = Snapshot(standing.judge)
      let update = body(&standing, now)
      waitForHold(&standing, of: watched, account)
      return (update, before, Snapshot(standing.judge))
    }
    let (old, new) = (before.state.verdict, after.state.verdict)
    let causeID = causes.note(
      watched, new.status, account.evidence, began: account.began, at: now, needsID: update.hasFailure)
    if let causeID { update.setCauseID(causeID) }
    if update.isStateChanged || !update.events.isEmpty || !before.hasSameDamping(as: after) {
      watched.series.withState { series in
        for event in update.events { series.record(event) }
        series.update(after.state, at: now)
        series.setDamping(rawChanges: after.rawChanges, isFlapping: after.isDamped)
      }
    }
    for event in update.events {
      keep(event, of: watched, as: after.state)
      said.say(.targetEvent(event, of: watched.target))
    }
    if old.status == .notReachable, new.status == .notReachable, old.reason != new.reason, !update.isInitial {
      said.say(.reasonChanged(target: watched.target, from: old.reason, to: new))
    }
    return old.status != new.status
  }

  /// Has a first status or a change of it kept.
  private func keep(_ event: TargetEvent, of watched: WatchedTarget, as state: TargetState) {
    switch event {
    case .initial(let change), .changed(let change):
      let transition = Transition(change, of: watched.target.name)
      store.record(StateChange(watched.record(of: state), transition: transition))
    case .flagsChanged, .pathChanged: break
    }
  }

  /// What a judgement has to say of the parts of its way that other targets share.
  private struct Account {
    let evidence: CauseEvidence?
    let began: Instant

    init(_ evidence: CauseEvidence?, began: Instant) {
      self.evidence = evidence
      self.began = began
    }

    static let nothing = Account(nil, began: .distantFuture)
  }

  /// What is shown of a judge.
  private struct Snapshot {
    let state: TargetState
    let rawChanges: UInt32
    let isDamped: Bool

    init(_ judge: TargetJudge) {
      state = judge.state
      rawChanges = judge.rawChanges
      isDamped = judge.isDamped
    }

    func hasSameDamping(as other: Snapshot) -> Bool {
      rawChanges == other.rawChanges && isDamped == other.isDamped
    }
  }

  /// Comes back when a path verdict that waits has lasted for the target's `hold`.
  private func waitForHold(
    _ standing: inout WatchedTarget.Standing, of watched: WatchedTarget, _ account: Account
  ) {
    if let timer = standing.holdTimer { loop.cancel(timer) }
    standing.holdTimer = standing.judge.holdEnds.map { due in
      loop.schedule(at: due) { [weak self] in self?.holdEnded(of: watched, account) }
    }
  }
}

extension TargetUpdate {
  /// Whether this is the first that is told of the target.
  fileprivate var isInitial: Bool {
    events.contains { if case .initial = $0 { true } else { false } }
  }

  /// Whether the target turned NotReachable, or was so to begin with.
  fileprivate var hasFailure: Bool { events.contains { $0.failure != nil } }

  /// Says which fault made the target NotReachable.
  fileprivate mutating func setCauseID(_ id: String) {
    for index in events.indices {
      guard var change = events[index].failure else { continue }
      change.causeID = id
      if case .initial = events[index] { events[index] = .initial(change) } else { events[index] = .changed(change) }
    }
  }
}

extension TargetEvent {
  fileprivate var failure: StatusChange? {
    switch self {
    case .initial(let change), .changed(let change): change.to.status == .notReachable ? change : nil
    case .flagsChanged, .pathChanged: nil
    }
  }
}
