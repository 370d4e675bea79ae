public import ReachCore
public import ReachIO

/// Where changes of status are kept: in a database under `state_dir`, or the newest of them in memory without one.
///
/// The disk never stops anything: all of it is the storage thread's business, and what waits for the disk is bounded.
///
/// Isolation: on the event loop, or before it runs.
public final class StateStore: Sendable {
  /// Told of what keeps state from being kept, on the loop or before it runs.
  public typealias Report = @Sendable (StateProblem) -> Void

  private let loop: EventLoop
  private let settings: StateSettings
  private let report: Report
  private let thread: StorageThread?
  private let state: LoopConfined<State>

  private struct State {
    var restored: [String: RestoredTarget] = [:]
    /// How many changes may wait for the disk.
    var queue = 0
    var ring: TransitionRing?
    /// The number of the next change that is handed over; everything before `kept` is on the disk.
    var next: UInt64 = 0
    var kept: UInt64 = 0
    var isFailing = false
    var hasDropped = false
    var lost: UInt64 = 0
    var waiting: [Waiting] = []
    var firstWaiting = 0
    var timer: TimerID?
    var questions = 0
    var everyTarget: @Sendable () -> [TargetRecord] = { [] }
    var isClosing = false
    var isClosed = false
  }

  /// Something that comes after a change is on the disk.
  private struct Waiting {
    let number: UInt64
    let deadline: Instant
    let body: @Sendable () -> Void
  }

  private static let questionsAtOnce = 16

  /// Opens the store and reads what is known of these targets; without a `directory`, a store in memory. Waits for the
  /// disk, though not for ever: what cannot be had in time is reported, and the store is one in memory.
  public init(
    directory: String?, targets: [Target], on loop: EventLoop, settings: StateSettings = StateSettings(),
    report: @escaping Report
  ) {
    self.loop = loop
    self.settings = settings
    self.report = report
    let news = NewsPost()
    var state = State()
    var thread: StorageThread?
    do throws(StateProblem) {
      if let directory {
        let opened = try StorageStart.open(StateFolder(path: directory), targets, settings, tell: news.send)
        thread = opened.thread
        state.restored = opened.restored
        if let problem = opened.problem { report(problem) }
      }
    } catch {
      report(error)
    }
    if thread == nil { state.ring = TransitionRing(capacity: settings.inMemory) }
    self.thread = thread
    self.state = LoopConfined(state, on: loop)
    expect(targets: targets.count)
    news.open { [weak self] message in loop.spawn { self?.receive(message) } }
  }

  deinit { thread?.hand { $0.end = $0.end ?? StorageEnd(records: nil, done: {}) } }

  /// Whether changes are kept on a disk.
  public var isPersistent: Bool { thread != nil }

  /// How many changes were not kept, since too many waited for the disk.
  public var lost: UInt64 { state.withState { $0.lost } }

  /// What is known of the targets from the last run, by name. It is given once and then let go.
  public func takeRestored() -> [String: RestoredTarget] {
    state.withState { state in
      defer { state.restored = [:] }
      return state.restored
    }
  }

  /// Says where to ask for every target as it stands, should the database have to be begun anew.
  public func onLoss(_ everyTarget: @escaping @Sendable () -> [TargetRecord]) {
    state.withState { $0.everyTarget = everyTarget }
  }

  // MARK: Changes

  /// Keeps a change. Never waits; what there is no room for is dropped, counted and, the first time, reported.
  public func record(_ change: StateChange) {
    guard let thread else {
      if let transition = change.transition { state.withState { $0.ring?.append(transition) } }
      return
    }
    let (number, isNews) = state.withState { state in admit(&state) }
    if let number {
      thread.hand { work in
        if work.changes.isEmpty { work.firstNumber = number }
        work.changes.append(change)
      }
    } else if isNews {
      report(
        StateProblem(
          "\(state.withState { $0.queue }) changes wait for the disk of state_dir: further ones are not kept",
          remedy: "look at the disk; reachd_state_lost_total counts what is lost"))
    }
  }

  /// The number of the next change, or none where there is no room for it, and whether that is news.
  private func admit(_ state: inout State) -> (number: UInt64?, isNews: Bool) {
    guard !state.isClosed, state.next &- state.kept < UInt64(max(1, state.queue)) else {
      defer { state.hasDropped = true }
      state.lost &+= 1
      return (nil, !state.hasDropped && !state.isClosed)
    }
    defer { state.next &+= 1 }
    return (state.next, false)
  }

  /// Calls `body` on the loop once all changes recorded so far are kept: at once when they are, or when the disk has not
  /// answered for `patience`. What is given first is called first.
  public func afterwards(_ body: @escaping @Sendable () -> Void) {
    let isNow = state.withState { state in
      let isIdle = state.firstWaiting == state.waiting.count
      if isIdle, state.kept == state.next || state.isFailing || thread == nil { return true }
      let deadline = loop.now().advanced(by: settings.patience)
      state.waiting.append(Waiting(number: state.next, deadline: deadline, body: body))
      if state.timer == nil { setTimer(&state, at: deadline) }
      return false
    }
    if isNow { body() }
  }

  private func setTimer(_ state: inout State, at due: Instant) {
    state.timer = loop.schedule(at: due) { [weak self] in
      self?.state.withState { $0.timer = nil }
      self?.release()
    }
  }

  /// Calls what has waited long enough, in order. What is called may record and wait in turn.
  private func release() {
    while let body = state.withState({ nextWaiting(&$0) }) { body() }
    state.withState { state in
      guard state.timer == nil, state.firstWaiting < state.waiting.count else { return }
      setTimer(&state, at: state.waiting[state.firstWaiting].deadline)
    }
  }

  private func nextWaiting(_ state: inout State) -> (@Sendable () -> Void)? {
    guard state.firstWaiting < state.waiting.count else {
      state.waiting.removeAll(keepingCapacity: state.waiting.count <= 64)
      state.firstWaiting = 0
      return nil
    }
    let first = state.waiting[state.firstWaiting]
    guard first.number <= state.kept || state.isFailing || state.isClosed || first.deadline <= loop.now() else {
      return nil
    }
    state.firstWaiting += 1
    return first.body
  }

  // MARK: Targets

  /// Takes targets in that are watched from now on, and returns what is known of them, by name: nothing when the disk does
  /// not answer in time. Call it from a task on the loop.
  public func adopt(_ targets: [Target]) async -> [String: RestoredTarget] {
    guard let thread, !targets.isEmpty else { return [:] }
    let known = LoopConfined<[String: RestoredTarget]>([:], on: loop)
    _ = await loop.wait(until: loop.now().advanced(by: settings.answerPatience)) { wait in
      let adoption = StorageAdoption(targets: targets) { [loop] restored in
        loop.spawn {
          known.withState { $0 = restored }
          wait.finish(.ready([]))
        }
      }
      thread.hand { $0.adoptions.append(adoption) }
    }
    return known.withState { $0 }
  }

  /// Says which targets are watched no more. What is kept of them stays until it is trimmed.
  public func release(_ names: [String]) {
    if !names.isEmpty { thread?.hand { $0.released += names } }
  }

  /// Makes room for the changes of that many targets at once: one cable may change all of them.
  public func expect(targets count: Int) {
    state.withState { $0.queue = max(settings.queue, count.multipliedReportingOverflow(by: 2).partialValue) }
  }

  // MARK: News

  private func receive(_ news: StorageNews) {
    switch news {
    case .kept(let number):
      let mustRefresh = state.withState { state in
        state.kept = max(state.kept, number)
        state.isFailing = false
        defer { state.hasDropped = false }
        return state.hasDropped
      }
      release()
      if mustRefresh { refresh() }
    case .failing(let problem):
      state.withState { $0.isFailing = true }
      if let problem { report(problem) }
      release()
    case .begunAnew(let problem):
      report(problem)
      refresh()
    }
  }

  /// Has every target kept as it stands, after something was lost.
  private func refresh() {
    let records = state.withState { $0.everyTarget }()
    let next = state.withState { $0.next }
    thread?.hand { work in
      work.refresh = records
      work.refreshedUpTo = next
    }
  }

  // MARK: Reading

  /// Asks for the newest transitions of a target, or of all, newest first, and calls `body` with them on the loop: at
  /// once, or when the storage thread has read them. With nil when too many ask at once, or the disk does not answer.
  public func newest(
    _ limit: Int, of target: String?, _ body: @escaping @Sendable ([Transition]?) -> Void
  ) {
    guard let thread else { return body(state.withState { $0.ring?.newest(limit, of: target) }) }
    let isAllowed = state.withState { state in
      guard !state.isClosed, state.questions < Self.questionsAtOnce else { return false }
      state.questions += 1
      return true
    }
    guard isAllowed else { return body(nil) }
    loop.spawn { [self] in
      let answer = LoopConfined<[Transition]?>(nil, on: loop)
      _ = await loop.wait(until: loop.now().advanced(by: settings.answerPatience)) { wait in
        let question = StorageQuestion(target: target, limit: limit) { [loop] found in
          loop.spawn {
            answer.withState { $0 = found }
            wait.finish(.ready([]))
          }
        }
        thread.hand { $0.questions.append(question) }
      }
      state.withState { $0.questions -= 1 }
      body(answer.withState { $0 })
    }
  }

  // MARK: End

  /// Keeps these targets as they stand and all that waits, and marks the end as a clean one. Waits for the disk until
  /// `deadline` at most, then gives up. From a task on the loop; a second call does nothing.
  public func close(_ records: [TargetRecord], by deadline: Instant) async {
    await close(Optional(records), by: deadline)
  }

  /// The same; without records the end is no clean one.
  func close(_ records: [TargetRecord]?, by deadline: Instant) async {
    let isFirst = state.withState { state in
      defer { state.isClosing = true }
      return !state.isClosing
    }
    if isFirst, let thread {
      _ = await loop.wait(until: deadline) { wait in
        thread.hand { work in
          work.end = StorageEnd(records: records) { [loop] in loop.spawn { wait.finish(.ready([])) } }
        }
      }
    }
    state.withState { $0.isClosed = true }
    release()
  }
}
