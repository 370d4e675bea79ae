internal import ReachCore
internal import ReachIO

/// What the storage thread tells the loop.
enum StorageNews: Sendable {
  /// All changes with a number below this one are kept, and writing works.
  case kept(before: UInt64)
  /// The disk refuses; changes wait, and it is tried again. Without a problem where that was told a while ago.
  case failing(StateProblem?)
  /// The database was lost and a new one begun: it needs every target as it stands.
  case begunAnew(StateProblem)
}

/// What the storage thread does. Made, used and ended on that thread.
final class StorageWorker {
  private let folder: StateFolder
  /// The targets that are watched.
  private var names: Set<String>
  private let settings: StateSettings
  private let thread: StorageThread
  private let tell: @Sendable (StorageNews) -> Void
  private let clock = SystemClock()
  private let boot = SmallFile.bootID()

  /// Keeps other agents out for as long as this value lives.
  private var lock: Lock?
  private var database: StateDatabase?
  private var identity: FileIdentity?
  private var pending: [StateChange] = []
  /// The number of the first change that is pending, or of the next one to come.
  private var firstPending: UInt64 = 0
  private var refresh: [TargetRecord] = []
  /// The number of the first change that is newer than what `refresh` holds.
  private var refreshedUpTo: UInt64 = 0

  /// How often in a row the disk has refused, and when to ask it again.
  private var failures = 0
  private var retryAt = Instant.distantFuture
  private var lastWarning: Instant?
  private var lastAside: Instant?
  /// Whether the file is gone and the new one is not there yet.
  private var isBegunAnew = false
  private var nextBeat: Instant
  private var nextTrim: Instant

  private static let changesAtOnce = 1_000
  private static let longestPause = Duration.seconds(30)
  private static let warningPause = Duration.seconds(3_600)
  private static let asidePause = Duration.seconds(60)

  init(
    _ folder: StateFolder, watching names: [String], settings: StateSettings, thread: StorageThread,
    tell: @escaping @Sendable (StorageNews) -> Void
  ) {
    self.folder = folder
    self.names = Set(names)
    self.settings = settings
    self.thread = thread
    self.tell = tell
    let now = clock.now()
    nextBeat = now.advanced(by: settings.heartbeat)
    nextTrim = now.advanced(by: settings.trimming)
  }

  private final class Lock {
    private let descriptor: Descriptor
    init(_ descriptor: consuming Descriptor) { self.descriptor = descriptor }
    // Closing alone would leave the lock to a process that is being forked just now.
    deinit { StateFolder.unlock(descriptor.number) }
  }

  // MARK: Start

  /// Opens the database and reads what is known of these targets. A file that cannot be used is set aside, which is the
  /// problem that is returned. Throws when nothing can be kept.
  func start(_ targets: [Target]) throws(StateProblem) -> (restored: [String: RestoredTarget], problem: StateProblem?) {
    try folder.make()
    lock = Lock(try folder.lock())
    do throws(DatabaseError) {
      return (try load(targets), nil)
    } catch {
      guard error.isAboutTheFile else { throw refusal(error) }
      let problem = try setAside(error)
      do throws(DatabaseError) { return (try load(targets), problem) } catch { throw refusal(error) }
    }
  }

  private func load(_ targets: [Target]) throws(DatabaseError) -> [String: RestoredTarget] {
    let database = try StateDatabase(folder)
    let rows = try database.targets(names)
    let wall = WallClock.nanosecondsSinceEpoch()
    try begin(database, at: wall)
    var restored: [String: RestoredTarget] = [:]
    for target in targets {
      guard let row = rows[target.name] else { continue }
      restored[target.name] = row.restored(as: target, at: wall, boot: boot)
    }
    return restored
  }

  private func begin(_ database: StateDatabase, at wall: Int64) throws(DatabaseError) {
    try database.beginRun(watching: names, boot: boot, at: wall)
    self.database = database
    identity = folder.databaseIdentity
  }

  // MARK: Running

  /// Works until it is told to end.
  func run() {
    while true {
      let due = isFailing ? retryAt : min(nextBeat, nextTrim)
      let work = thread.take(waitingUntil: isBegunAnew && !isFailing ? clock.now() : due, now: clock.now())
      if pending.isEmpty, !work.changes.isEmpty { firstPending = work.firstNumber }
      pending += work.changes
      if !work.refresh.isEmpty { (refresh, refreshedUpTo) = (work.refresh, work.refreshedUpTo) }
      if !isFailing || retryAt <= clock.now() || work.end != nil { keepPending() }
      names.subtract(work.released)
      for adoption in work.adoptions { adopt(adoption) }
      for question in work.questions { answer(question) }
      if let end = work.end { return finish(end) }
      if !isFailing { doPeriodicWork() }
    }
  }

  /// Keeps all that waits, as far as the disk lets it.
  private func keepPending() {
    attempt { () throws(DatabaseError) in
      let database = if let open = self.database { open } else { try reopened() }
      isBegunAnew = false
      if pending.isEmpty || firstPending >= refreshedUpTo { try keepRefresh(in: database) }
      while !pending.isEmpty {
        // What was older than the targets as they stand must not come after them.
        let older = refresh.isEmpty ? .max : Int(clamping: refreshedUpTo &- firstPending)
        let batch = pending.prefix(min(Self.changesAtOnce, older))
        try database.write(batch)
        firstPending &+= UInt64(batch.count)
        pending.removeFirst(batch.count)
        if pending.isEmpty || firstPending >= refreshedUpTo { try keepRefresh(in: database) }
        tell(.kept(before: firstPending))
      }
      guard isFailing else { return }
      // Nothing may have waited: only a write shows that writing works again.
      try database.beat(at: WallClock.nanosecondsSinceEpoch())
      failures = 0
      tell(.kept(before: firstPending))
    }
  }

  private func keepRefresh(in database: StateDatabase) throws(DatabaseError) {
    guard !refresh.isEmpty else { return }
    try database.write(refresh)
    refresh = []
  }

  private func reopened() throws(DatabaseError) -> StateDatabase {
    let database = try StateDatabase(folder)
    try begin(database, at: WallClock.nanosecondsSinceEpoch())
    return database
  }

  private func doPeriodicWork() {
    let now = clock.now()
    let wall = WallClock.nanosecondsSinceEpoch()
    if nextBeat <= now {
      nextBeat = now.advanced(by: settings.heartbeat)
      guard folder.databaseIdentity == identity else {
        return beginAnew(
          StateProblem(
            "the database \(folder.database) was taken away while it was in use: a new one is begun",
            remedy: "stop the agent before its state_dir is changed"))
      }
      attempt { () throws(DatabaseError) in try database?.beat(at: wall) }
    }
    if nextTrim <= now {
      nextTrim = now.advanced(by: settings.trimming)
      attempt { () throws(DatabaseError) in
        // The next piece comes at once, after whatever has been handed over meanwhile.
        if try database?.trim(to: settings, at: wall) == true { nextTrim = now }
      }
    }
  }

  private func answer(_ question: StorageQuestion) {
    let waiting = pending.reversed().lazy.compactMap(\.transition)
      .filter { question.target == nil || $0.target == question.target }
      .prefix(max(0, question.limit))
    var found = Array(waiting)
    attempt { () throws(DatabaseError) in
      if let kept = try database?.newest(question.limit - found.count, of: question.target) { found += kept }
    }
    question.answer(found)
  }

  /// Takes targets in that are watched from now on. What waits has been kept before, as far as the disk let it.
  private func adopt(_ adoption: StorageAdoption) {
    var restored: [String: RestoredTarget] = [:]
    let added = Set(adoption.targets.map(\.name))
    attempt { () throws(DatabaseError) in
      guard let database else { return }
      let rows = try database.targets(added)
      let wall = WallClock.nanosecondsSinceEpoch()
      for target in adoption.targets {
        guard let row = rows[target.name] else { continue }
        restored[target.name] = row.restored(as: target, at: wall, boot: boot, in: database.run)
      }
      try database.watch(added)
    }
    names.formUnion(added)
    adoption.answer(restored)
  }

  // MARK: Trouble

  private var isFailing: Bool { failures > 0 }

  /// Runs what touches the database. When that fails, what waits goes on waiting, and it is tried again after a pause;
  /// a file that is damaged is set aside for a new one.
  private func attempt(_ body: () throws(DatabaseError) -> Void) {
    do throws(DatabaseError) {
      try body()
    } catch {
      let now = clock.now()
      // A disk that spoils one file after the other is not to be filled with them.
      let isRepeated = lastAside.map { now.since($0) < Self.asidePause } ?? false
      guard error.isAboutTheFile, !isRepeated else { return fail(error, because: refusal(error)) }
      lastAside = now
      database = nil
      do throws(StateProblem) { beginAnew(try setAside(error)) } catch let problem { fail(error, because: problem) }
    }
  }

  private func fail(_ error: DatabaseError, because problem: StateProblem) {
    let now = clock.now()
    if !isFailing {
      // A disk that is full now and then is one warning, not many.
      let isNews = lastWarning.map { now.since($0) >= Self.warningPause } ?? true
      if isNews { lastWarning = now }
      tell(.failing(isNews ? problem : nil))
    }
    let pause = settings.retry * (1 << min(10, failures))
    failures += 1
    retryAt = now.advanced(by: min(pause, Self.longestPause))
    // A disk that was away may be another one when it comes back.
    if error.kind != .busy, error.kind != .full { database = nil }
  }

  /// Goes on with a new file, into which what waits comes first, then every target as it stands.
  private func beginAnew(_ problem: StateProblem) {
    database = nil
    isBegunAnew = true
    tell(.begunAnew(problem))
  }

  private func setAside(_ error: DatabaseError) throws(StateProblem) -> StateProblem {
    do throws(SystemError) {
      let name = try folder.setAside(at: WallClock.nanosecondsSinceEpoch())
      return StateProblem(
        "the database \(folder.database) cannot be used (\(error)): it was set aside as \(name), and a new one is begun",
        remedy: "keep that file if its history matters to you, or delete it")
    } catch let failure {
      throw StateProblem(
        "the database \(folder.database) cannot be used (\(error)) nor be set aside (\(failure)): transitions and "
          + "counters are kept in memory only",
        remedy: "move that file away and restart reachd")
    }
  }

  private func refusal(_ error: DatabaseError) -> StateProblem {
    let remedy =
      switch error.kind {
      case .full: "make room on that disk"
      case .denied: Surroundings.current.remedy(for: .writing(folder.path))
      case .busy: "find out which process keeps it locked: fuser \(folder.database)"
      case .damaged, .foreign, .other: "look at the disk and at the kernel's log"
      }
    return StateProblem("changes cannot be kept in \(folder.database) (\(error))", remedy: remedy)
  }

  // MARK: End

  private func finish(_ end: StorageEnd) {
    if let records = end.records, let database, pending.isEmpty {
      try? database.endRun(records, at: WallClock.nanosecondsSinceEpoch())
    }
    // Closing the last connection writes the log back into the database.
    database = nil
    lock = nil
    end.done()
  }
}
