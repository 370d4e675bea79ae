internal import ReachCore
internal import ReachIO

/// What a `Scheduler` keeps on its loop: the schedule, the runners along it, and the timer.
struct SchedulerCore {
  /// What runs for one target, at the index of its key.
  struct Slot: Sendable {
    let key: SchedulerState.Key
    let runner: RoundRunner
    let tag: Int
    /// Of the round that runs; made for each, since few targets have one at any moment.
    var progress: LoopConfined<RoundProgress>?
    var task: Task<Void, Never>?
    /// What the last round left for looks at the path; nil before the first.
    var kept: KeptFindings?
  }

  var schedule: SchedulerState
  var slots: [Slot?] = []
  var keys: [String: SchedulerState.Key] = [:]
  /// Collects actions; its storage is used again from call to call.
  var actions: [SchedulerState.Action] = []
  /// What the timer does: made once, so that setting it costs no allocation.
  var onTimer: (@Sendable () -> Void)?
  var timer: TimerID?
  var timerDue = Instant.distantFuture
  var counts = Scheduler.Counts()
  /// Tasks that have not ended.
  var unfinished = 0
  var isStopped = false
  /// Ends when the last task has ended after `stop`.
  var stopped: Task<Void, Never>?
  /// Looks at paths between rounds.
  var looking: PathLooking
  private var suspend = SuspendNotice()

  init(_ settings: SchedulerSettings, at now: Instant) {
    schedule = SchedulerState(settings)
    looking = PathLooking(settings.changes, at: now)
  }

  var currentCounts: Scheduler.Counts {
    var counts = counts
    counts.targets = keys.count
    counts.running = schedule.inFlight
    counts.waiting = schedule.waiting
    counts.stuck = unfinished - schedule.inFlight
    return counts
  }

  func slot(of key: SchedulerState.Key) -> Slot? {
    guard Int(key.index) < slots.count, let slot = slots[Int(key.index)], slot.key == key else { return nil }
    return slot
  }

  // MARK: Targets

  /// Makes room for that many more targets.
  mutating func reserve(_ additional: Int) {
    schedule.reserve(additional)
    slots.reserveCapacity(keys.count + additional)
    keys.reserveCapacity(keys.count + additional)
  }

  mutating func add(_ target: ScheduledTarget, on loop: EventLoop) {
    guard !isStopped else { return }
    let subject = target.runner.target
    let now = loop.now()
    remove(subject.name, at: now)
    let key = schedule.add(
      name: subject.name, interval: subject.policy.interval, timeout: subject.policy.timeout, at: now)
    while slots.count <= Int(key.index) { slots.append(nil) }
    slots[Int(key.index)] = Slot(key: key, runner: target.runner, tag: target.tag)
    keys[subject.name] = key
  }

  mutating func remove(_ name: String, at now: Instant) {
    guard let key = keys.removeValue(forKey: name) else { return }
    slots[Int(key.index)]?.task?.cancel()
    slots[Int(key.index)] = nil
    schedule.remove(key, at: now, into: &actions)
  }

  mutating func stop(on loop: EventLoop) {
    isStopped = true
    if let timer { loop.cancel(timer) }
    timer = nil
    looking.task?.cancel()
    for slot in slots { slot?.task?.cancel() }
  }

  // MARK: Rounds

  mutating func began(_ key: SchedulerState.Key, _ task: Task<Void, Never>, _ progress: LoopConfined<RoundProgress>) {
    unfinished += 1
    counts.started &+= 1
    // An observer may have removed the target, or stopped everything, while it was told of the start.
    guard slot(of: key) != nil, !isStopped else { return task.cancel() }
    slots[Int(key.index)]?.task = task
    slots[Int(key.index)]?.progress = progress
  }

  /// Takes note of a round's end. Returns nil when nobody is to be told.
  mutating func ended(
    _ round: SchedulerState.Round, at now: Instant
  ) -> (tag: Int, disposition: SchedulerState.Disposition)? {
    unfinished -= 1
    if isStopped {
      if unfinished == 0 { stopped?.cancel() }
      return nil
    }
    noticeSuspend(at: now)
    let disposition = schedule.finish(round.key, number: round.number, at: now, into: &actions)
    switch disposition {
    case .starved: counts.skipped &+= 1
    case .outdated: counts.outdated &+= 1
    case .report, .late: break
    }
    guard let slot = slot(of: round.key) else { return nil }
    slots[Int(round.key.index)]?.task = nil
    slots[Int(round.key.index)]?.progress = nil
    return (slot.tag, disposition)
  }

  mutating func gaveUp(_ key: SchedulerState.Key) -> Slot? {
    counts.overran &+= 1
    return slot(of: key)
  }

  /// After a suspend, what was under way is dropped and every target gets one fresh round.
  mutating func noticeSuspend(at now: Instant) {
    guard suspend.hasHappened() else { return }
    counts.suspends &+= 1
    schedule.restart(at: now)
  }

  // MARK: Actions and the timer

  mutating func takeActions() -> [SchedulerState.Action] {
    defer { actions = [] }
    return actions
  }

  /// Takes back the storage of actions that have been performed.
  mutating func putBack(_ performed: consuming [SchedulerState.Action]) {
    guard actions.capacity == 0 else { return }
    performed.removeAll(keepingCapacity: true)
    actions = performed
  }

  /// Sets the one timer to the schedule's next wake-up.
  mutating func rearm(on loop: EventLoop) {
    let look = keys.isEmpty ? nil : looking.due
    let next = min(schedule.nextWake ?? .distantFuture, look ?? .distantFuture)
    if timer != nil, timerDue == next { return }
    if let timer { loop.cancel(timer) }
    timer = nil
    guard !isStopped, next != .distantFuture, let onTimer else { return }
    timerDue = next
    timer = loop.schedule(at: next, onTimer)
  }
}
