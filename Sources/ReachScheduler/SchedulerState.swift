public import ReachCore

/// When each target's rounds run: a plain value on virtual time, told of the time and of ends, answering with actions.
///
/// What it guarantees: a first round at once, spread when there are many; then each target in its own place within
/// its interval, counted from the clock's start and not from the last round, so that nothing drifts; never two rounds
/// of one target together; a bounded number of rounds in flight, the rest in order; one absolute deadline per round,
/// counted from its start; one fresh round after any gap, however long.
///
/// Each call costs O(log n) for each target it concerns, about 100 bytes a target are held, and nothing is allocated
/// once the tables have grown.
public struct SchedulerState: Sendable {
  /// Names one scheduled target. It is never given again.
  public struct Key: Hashable, Sendable {
    /// The target's place in tables that run along the scheduler's: dense, and given again after a removal.
    public let index: Int32
    let generation: UInt32
  }

  /// One round of one target.
  public struct Round: Hashable, Sendable {
    /// The target.
    public let key: Key
    /// Tells the target's rounds apart.
    public let number: UInt32
    /// The round's one deadline.
    public let deadline: Instant
    /// How late it starts.
    public let lag: Duration
  }

  /// What is to be done.
  public enum Action: Hashable, Sendable {
    /// Begin this round now.
    case start(Round)
    /// That many rounds of the target do not take place: the one before still runs or waits, or their time had passed.
    case skip(Key, rounds: Int)
    /// That many rounds of the target do not take place: the one before still waits for rounds of other targets to end.
    case crowdOut(Key, rounds: Int)
    /// The backend kept neither to its deadline nor to the grace after it: cancel the round and report the fault.
    case giveUp(Key, number: UInt32)
  }

  /// What a finished round's result is worth.
  public enum Disposition: Hashable, Sendable {
    /// Hand it on.
    case report
    /// Drop it: the target is gone, or the round was given up and has been reported.
    case late
    /// Drop it, since this process was starved or suspended meanwhile; a fresh round follows. Counts as skipped.
    case starved
    /// Drop it, since the target's path changed meanwhile: it tells of a way that packets no longer take. Rounds follow.
    case outdated
  }

  enum Phase: UInt8 {
    case absent
    case idle
    case queued
    case running
    case givenUp
  }

  struct Entry {
    var interval: Int64 = 0
    var timeout: Int64 = 0
    /// The target's own place within its interval.
    var offset: Int64 = 0
    /// When the round that waits or runs was due.
    var roundDue: Int64 = 0
    /// When the round that runs is given up.
    var limit: Int64 = 0
    /// When a round is due out of its place, since something changed; `.max` for never.
    var followUp = Int64.max
    /// How long the follow-up after that one waits.
    var backoff: Int64 = 0
    var generation: UInt32 = 0
    var number: UInt32 = 0
    var previous: Int32 = -1
    var next: Int32 = -1
    var phase = Phase.absent
    /// The process was starved or suspended while the round ran.
    var isStarved = false
    /// A round was due while one ran that keeps to its time: it follows that one, and stands in its place.
    var isPostponed = false
    /// The round was found past its limit once.
    var isOverdue = false
    /// The target's path changed while the round ran.
    var isOutdated = false
    /// Another round is wanted as soon as this one has ended.
    var isWantedAgain = false
  }

  let settings: SchedulerSettings
  let grace: Int64
  let starvation: Int64
  let pace: Int64
  let followUpDelay: Int64
  var entries: [Entry] = []
  var free: [Int32] = []
  var heap = DueHeap()
  var queue = EntryList()
  var running = EntryList()
  /// The earliest limit of a running round, rounded up; `.max` while none runs.
  var nextSweep = Int64.max
  /// When the next first round may start, had it no burst to draw on.
  var firstRoundsTaken = Int64.min

  /// How many targets there are.
  public private(set) var count = 0
  /// Rounds that run and have not been given up.
  public internal(set) var inFlight = 0
  /// Rounds that were given up and have not ended.
  public internal(set) var givenUp = 0
  /// Rounds that wait for others to end.
  public var waiting: Int { queue.count }

  /// A schedule without targets.
  public init(_ settings: SchedulerSettings = SchedulerSettings()) {
    self.settings = settings
    grace = max(0, settings.grace.nanoseconds)
    starvation = max(0, settings.starvation.nanoseconds)
    pace = max(0, settings.firstRoundPace.nanoseconds)
    followUpDelay = max(1, settings.followUpDelay.nanoseconds)
  }

  /// When `wake` is to be called next; nil while there is nothing to wait for.
  public var nextWake: Instant? {
    let next = min(heap.firstDue ?? .max, nextSweep)
    return next == .max ? nil : Instant(nanoseconds: next)
  }

  // MARK: Targets

  /// Makes room for that many more targets, so that the tables are no larger than they must be.
  public mutating func reserve(_ additional: Int) {
    let total = entries.count - free.count + max(0, additional)
    entries.reserveCapacity(total)
    heap.reserve(total)
  }

  /// Adds a target, whose first round is due at once or soon. Its place follows from its name and interval alone.
  ///
  /// An interval or a timeout below a millisecond is taken as one.
  public mutating func add(name: String, interval: Duration, timeout: Duration, at now: Instant) -> Key {
    let index: Int32
    if let reused = free.popLast() {
      index = reused
    } else {
      index = Int32(truncatingIfNeeded: entries.count)
      entries.append(Entry())
    }
    let interval = min(max(interval.nanoseconds, 1_000_000), .max / 8)
    let slot = settings.slot(forInterval: interval)
    let offset = Int64(StableHash.hash(name) % UInt64(interval)) / slot * slot
    let generation = entries[Int(index)].generation
    entries[Int(index)] = Entry(
      interval: interval, timeout: min(max(timeout.nanoseconds, 1_000_000), interval), offset: offset,
      generation: generation, phase: .idle)
    count += 1
    heap.set(index, due: firstDue(index, at: now.nanoseconds))
    return Key(index: index, generation: generation)
  }

  /// Takes a target away; its running round's result will be `late`. Returns whether a round of it runs. Others keep
  /// their places.
  @discardableResult
  public mutating func remove(_ key: Key, at now: Instant, into actions: inout [Action]) -> Bool {
    guard let index = index(of: key) else { return false }
    let phase = entries[index].phase
    leave(index)
    heap.remove(key.index)
    entries[index].phase = .absent
    entries[index].generation &+= 1
    free.append(key.index)
    count -= 1
    startWaiting(at: now.nanoseconds, into: &actions)
    return phase == .running || phase == .givenUp
  }

  /// Makes a round of the target due at once, or soon when that is asked of many. While one waits that is the one; while
  /// one runs, another follows it.
  public mutating func probeNow(_ key: Key, at now: Instant) {
    guard let index = index(of: key) else { return }
    switch entries[index].phase {
    case .idle:
      let known = heap.due(of: key.index) ?? .max
      guard known > now.nanoseconds else { return }
      heap.set(key.index, due: min(firstDue(key.index, at: now.nanoseconds), known))
    case .running, .givenUp: entries[index].isWantedAgain = true
    case .queued, .absent: break
    }
  }

  /// What ran is no longer to be trusted, as after a suspend: results of running rounds are dropped, and every target
  /// gets one fresh round, spread like first rounds.
  public mutating func restart(at now: Instant) {
    for index in entries.indices {
      switch entries[index].phase {
      case .idle: heap.set(Int32(index), due: firstDue(Int32(index), at: now.nanoseconds))
      case .running: entries[index].isStarved = true
      case .absent, .queued, .givenUp: break
      }
    }
  }

  /// Whether what the target's newest round has seen may be of a way that is no more: the path changed while it ran, or
  /// another round is wanted after it.
  func isOutdated(_ key: Key) -> Bool {
    index(of: key).map { entries[$0].isOutdated || entries[$0].isWantedAgain } ?? false
  }

  func index(of key: Key) -> Int? {
    let index = Int(key.index)
    guard index >= 0, index < entries.count, entries[index].generation == key.generation else { return nil }
    return entries[index].phase == .absent ? nil : index
  }

  /// Takes the target out of what it waits or runs in.
  mutating func leave(_ index: Int) {
    switch entries[index].phase {
    case .queued: queue.remove(Int32(index), from: &entries)
    case .running:
      running.remove(Int32(index), from: &entries)
      inFlight -= 1
      if running.count == 0 { nextSweep = .max }
    case .givenUp: givenUp -= 1
    case .idle, .absent: break
    }
  }
}
