internal import ReachCore
public import ReachIO

/// Performs a `SchedulerState` on an event loop: starts rounds as tasks of the loop, wakes up by one timer, and gives
/// up backends that keep neither to their deadline nor to the grace after it.
///
/// A stuck backend is never waited for: its target alone stands still, its skipped rounds are counted, and what it
/// brings in the end is dropped.
///
/// Isolation: every method on the loop's thread, or before the loop runs.
public final class Scheduler: Sendable {
  /// Told of every event of every target, by tag. Called on the loop; it may call the scheduler's methods.
  public typealias Observer = @Sendable (_ tag: Int, _ event: SchedulerEvent) -> Void

  /// Totals since the start, and what is going on now.
  public struct Counts: Hashable, Sendable {
    /// Targets.
    public var targets = 0
    /// Rounds that run.
    public var running = 0
    /// Rounds that wait for others to end.
    public var waiting = 0
    /// Rounds whose backend was given up and has not come back, removed targets' among them.
    public var stuck = 0
    /// Rounds that have been started.
    public var started: UInt64 = 0
    /// Rounds that did not take place, or whose result was dropped.
    public var skipped: UInt64 = 0
    /// Backends that were given up.
    public var overran: UInt64 = 0
    /// Rounds whose result was dropped since the path had changed.
    public var outdated: UInt64 = 0
    /// Times all paths were looked at between rounds.
    public var looks: UInt64 = 0
    /// Times this host was found to have been suspended.
    public var suspends: UInt64 = 0
  }

  let loop: EventLoop
  let observer: Observer
  /// Called when all targets have been told of a look at their paths.
  let onLookEnd: @Sendable () -> Void
  let core: LoopConfined<SchedulerCore>

  /// A scheduler without targets. It does nothing until targets are added, and needs no start. `onLookEnd` is called on
  /// the loop when every target has been told of a look at its path.
  public init(
    loop: EventLoop, settings: SchedulerSettings = SchedulerSettings(),
    onLookEnd: @escaping @Sendable () -> Void = {}, observer: @escaping Observer
  ) {
    self.onLookEnd = onLookEnd
    self.loop = loop
    self.observer = observer
    core = LoopConfined(SchedulerCore(settings, at: loop.now()), on: loop)
  }

  /// The counts as they stand.
  public var counts: Counts { core.withState { $0.currentCounts } }

  /// The names of the targets, in no order.
  public var names: [String] { core.withState { Array($0.keys.keys) } }

  // MARK: Targets

  /// Adds targets, whose first rounds begin at once, spread when they are many. One whose name is there already
  /// replaces it: its round, if one runs, is cancelled and its result dropped. All others keep their places.
  public func add(_ targets: [ScheduledTarget]) {
    change { state in
      state.reserve(targets.count)
      for target in targets { state.add(target, on: self.loop) }
    }
  }

  /// Takes targets away by name; names that are not there are passed over. Running rounds are cancelled and their
  /// results dropped. All others keep their places.
  public func remove(_ names: [String]) {
    change { state in
      for name in names { state.remove(name, at: self.loop.now()) }
    }
  }

  /// Makes rounds of these targets begin at once; nil stands for all. A target that waits for its round gets no second
  /// one, a target whose round runs gets one more when that has ended: many calls come to one round.
  public func probeNow(_ names: [String]? = nil) {
    change { state in
      let now = self.loop.now()
      for key in names.map({ $0.compactMap { state.keys[$0] } }) ?? Array(state.keys.values) {
        state.schedule.probeNow(key, at: now)
      }
    }
  }

  /// Cancels every round and starts no more. Returns when all rounds have ended, or after `limit`, and says how many
  /// have not: backends that do not heed cancellation.
  @discardableResult
  public func stop(within limit: Duration = .seconds(1)) async -> Int {
    let deadline = loop.now().advanced(by: limit)
    core.withState { $0.stop(on: loop) }
    if core.withState({ $0.unfinished }) > 0 {
      let wait = loop.spawn { await self.loop.sleep(until: deadline) }
      core.withState { $0.stopped = wait }
      await wait.value
    }
    return core.withState { $0.unfinished }
  }

  // MARK: Actions

  /// Changes the state and performs what that asks for, outside the state, since observers may call back.
  func change(_ body: (inout SchedulerCore) -> Void) {
    let actions = core.withState { state -> [SchedulerState.Action] in
      body(&state)
      return state.takeActions()
    }
    perform(actions)
  }

  func perform(_ actions: [SchedulerState.Action]) {
    for action in actions {
      switch action {
      case .start(let round): start(round)
      case .skip(let key, let rounds): skipped(key, rounds, .skipped(rounds: rounds))
      case .crowdOut(let key, let rounds): skipped(key, rounds, .crowdedOut(rounds: rounds))
      case .giveUp(let key, let number): giveUp(key, number)
      }
    }
    core.withState {
      if $0.onTimer == nil { $0.onTimer = { [weak self] in self?.wake() } }
      $0.putBack(actions)
      $0.rearm(on: loop)
    }
  }

  private func wake() {
    change { state in
      state.timer = nil
      let now = self.loop.now()
      state.noticeSuspend(at: now)
      state.schedule.wake(at: now, into: &state.actions)
    }
    lookIfDue()
  }

  private func start(_ round: SchedulerState.Round) {
    guard let slot = core.withState({ $0.slot(of: round.key) }) else { return }
    observer(slot.tag, .started(lag: round.lag))
    let runner = slot.runner
    let progress = LoopConfined(RoundProgress(), on: loop)
    let task = loop.spawn {
      await runner.run(until: round.deadline, into: progress)
      self.ended(round, progress)
    }
    core.withState { $0.began(round.key, task, progress) }
  }

  private func ended(_ round: SchedulerState.Round, _ progress: LoopConfined<RoundProgress>) {
    let now = loop.now()
    if let outcome = core.withState({ $0.ended(round, at: now) }) {
      switch outcome.disposition {
      case .report:
        let report = progress.withState { $0.takeReport(at: now) }
        core.withState { $0.keep(report.findings, of: round.key, at: now) }
        observer(outcome.tag, .finished(report))
      case .outdated: observer(outcome.tag, .outdated)
      case .starved: observer(outcome.tag, .skipped(rounds: 1))
      case .late: break
      }
    }
    // The rounds that waited for this one begin once it has been reported.
    change { _ in }
  }

  private func skipped(_ key: SchedulerState.Key, _ rounds: Int, _ event: SchedulerEvent) {
    let tag = core.withState { state in
      state.counts.skipped &+= UInt64(rounds)
      return state.slot(of: key)?.tag
    }
    if let tag { observer(tag, event) }
  }

  private func giveUp(_ key: SchedulerState.Key, _ number: UInt32) {
    guard let slot = core.withState({ $0.gaveUp(key) }), let progress = slot.progress else { return }
    slot.task?.cancel()
    let isOutdated = core.withState { $0.schedule.isOutdated(key) }
    let report = progress.withState { progress in
      if isOutdated { progress.forgetFindings() }
      return progress.takeOverrunReport(of: slot.runner.probes, at: loop.now())
    }
    observer(slot.tag, .finished(report))
  }
}
