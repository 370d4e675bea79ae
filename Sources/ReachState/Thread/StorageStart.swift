internal import Glibc
internal import ReachCore
internal import ReachIO
internal import Synchronization

/// The start of the storage thread: the one moment at which somebody waits for the disk, and not for ever.
final class StorageStart: Sendable {
  typealias Restored = [String: RestoredTarget]

  private struct State {
    var targets: [Target]
    var restored: Restored = [:]
    /// What was wrong; with `isOpen`, it did not keep the database from being used.
    var problem: StateProblem?
    var isOpen = false
    var isAbandoned = false
  }

  private let state: Mutex<State>
  private let answered: WakeUpCall

  private init(_ targets: [Target]) throws(SystemError) {
    state = Mutex(State(targets: targets))
    answered = try WakeUpCall()
  }

  /// Opens the database on a thread of its own and returns that, with what is known of the targets and a problem that
  /// has been overcome. Throws when nothing can be kept.
  static func open(
    _ folder: StateFolder, _ targets: [Target], _ settings: StateSettings,
    tell: @escaping @Sendable (StorageNews) -> Void
  ) throws(StateProblem) -> (thread: StorageThread, restored: Restored, problem: StateProblem?) {
    let thread: StorageThread
    let start: StorageStart
    do throws(SystemError) {
      thread = try StorageThread()
      start = try StorageStart(targets)
      try WorkerThread.begin { [thread, start] in
        start.run(folder, settings, thread, tell)
      }
    } catch {
      throw StateProblem(
        "there is no thread for the disk (\(error)): transitions and counters are kept in memory only",
        remedy: Surroundings.current.remedy(for: error.code.errno == EMFILE ? .descriptors : .threads))
    }
    start.answered.wait(for: settings.startPatience)
    let state = start.state.withLock { state in
      if !state.isOpen { state.isAbandoned = true }
      defer { state.restored = [:] }
      return state
    }
    guard state.isOpen else {
      throw state.problem
        ?? StateProblem(
          "the disk of state_dir \(folder.path) does not answer: transitions and counters are kept in memory only",
          remedy: "look at the disk and at the kernel's log, then restart reachd")
    }
    return (thread, state.restored, state.problem)
  }

  /// All that happens on the thread.
  private func run(
    _ folder: StateFolder, _ settings: StateSettings, _ thread: StorageThread,
    _ tell: @escaping @Sendable (StorageNews) -> Void
  ) {
    let targets = state.withLock { state in
      defer { state.targets = [] }
      return state.targets
    }
    let worker = StorageWorker(
      folder, watching: targets.map(\.name), settings: settings, thread: thread, tell: tell)
    if begin(worker, targets) { worker.run() }
  }

  /// Opens the database and answers. Returns whether anybody still wants it.
  private func begin(_ worker: StorageWorker, _ targets: [Target]) -> Bool {
    let outcome: (restored: Restored, problem: StateProblem?, isOpen: Bool)
    do throws(StateProblem) {
      let started = try worker.start(targets)
      outcome = (started.restored, started.problem, true)
    } catch {
      outcome = ([:], error, false)
    }
    let isWanted = state.withLock { state in
      guard !state.isAbandoned else { return false }
      state.restored = outcome.restored
      state.problem = outcome.problem
      state.isOpen = outcome.isOpen
      return outcome.isOpen
    }
    answered.make()
    return isWanted
  }
}

/// Brings news from the storage thread to whoever listens on the loop; what comes before anybody does is kept.
final class NewsPost: Sendable {
  private struct State {
    var early: [StorageNews] = []
    var deliver: (@Sendable (StorageNews) -> Void)?
  }

  private let state = Mutex(State())

  /// From any thread.
  func send(_ news: StorageNews) {
    let deliver = state.withLock { state in
      if state.deliver == nil { state.early.append(news) }
      return state.deliver
    }
    deliver?(news)
  }

  /// Says who listens, once.
  func open(_ deliver: @escaping @Sendable (StorageNews) -> Void) {
    let early = state.withLock { state in
      state.deliver = deliver
      defer { state.early = [] }
      return state.early
    }
    for news in early { deliver(news) }
  }
}
