import ReachCore
import ReachScheduler

/// Drives a `SchedulerState` on virtual time that begins at 0: rounds take as long as `duration` says.
final class VirtualSchedule {
  private(set) var state: SchedulerState
  private(set) var now: Int64 = 0
  /// How long a target's next round takes, in nanoseconds; `.max` for ever.
  var duration: (String) -> Int64 = { _ in 1_000_000 }

  var starts: [String: [Int64]] = [:]
  private(set) var wakes = 0
  private(set) var startOrder: [String] = []
  private(set) var skips: [String: Int] = [:]
  private(set) var lags: [Int64] = []
  private(set) var deadlines: [Int64] = []
  private(set) var givenUp: [String] = []
  private(set) var late = 0
  private(set) var starved = 0
  private(set) var outdated = 0
  private(set) var reported = 0
  private(set) var overlaps = 0
  private(set) var mostInFlight = 0

  private var keys: [String: SchedulerState.Key] = [:]
  private var names: [SchedulerState.Key: String] = [:]
  private var ends = EndQueue()
  private var running: Set<SchedulerState.Key> = []
  private var actions: [SchedulerState.Action] = []

  init(maximumInFlight: Int = 100_000, grace: Duration = .milliseconds(250)) {
    var settings = SchedulerSettings()
    settings.maximumInFlight = maximumInFlight
    settings.grace = grace
    state = SchedulerState(settings)
  }

  /// When each target's first round started.
  var firstStarts: [String: Int64] { starts.compactMapValues(\.first) }

  func add(_ name: String, interval: Duration, timeout: Duration? = nil) {
    let key = state.add(name: name, interval: interval, timeout: timeout ?? interval, at: instant)
    keys[name] = key
    names[key] = name
  }

  func remove(_ name: String) {
    guard let key = keys.removeValue(forKey: name) else { return }
    state.remove(key, at: instant, into: &actions)
    perform()
  }

  func probeNow(_ name: String) {
    if let key = keys[name] { state.probeNow(key, at: instant) }
  }

  func pathChanged(_ name: String) {
    if let key = keys[name] { state.pathChanged(key, at: instant) }
  }

  func nameChanged(_ name: String) {
    if let key = keys[name] { state.nameChanged(key, at: instant) }
  }

  /// Lets virtual time run, with every wake-up punctual.
  func run(until end: Duration) {
    while true {
      let next = min(ends.first?.at ?? .max, state.nextWake?.nanoseconds ?? .max)
      guard next <= end.nanoseconds else { break }
      now = max(now, next)
      step()
    }
    now = max(now, end.nanoseconds)
  }

  /// The process does not run for that long; then a wake-up comes before any round that has ended is heard.
  func sleepThrough(_ gap: Duration) {
    now += gap.nanoseconds
    wake()
  }

  private var instant: Instant { Instant(nanoseconds: now) }

  private func step() {
    if let wake = state.nextWake, wake <= instant { self.wake() }
    while let end = ends.popDue(at: now) {
      let disposition = state.finish(end.key, number: end.number, at: instant, into: &actions)
      running.remove(end.key)
      switch disposition {
      case .report: reported += 1
      case .late: late += 1
      case .starved: starved += 1
      case .outdated: outdated += 1
      }
      perform()
    }
  }

  private func wake() {
    wakes += 1
    state.wake(at: instant, into: &actions)
    perform()
  }

  private func perform() {
    for action in actions {
      switch action {
      case .start(let round): start(round)
      case .skip(let key, let rounds), .crowdOut(let key, let rounds): skips[names[key] ?? "", default: 0] += rounds
      case .giveUp(let key, _): givenUp.append(names[key] ?? "")
      }
    }
    actions.removeAll(keepingCapacity: true)
    mostInFlight = max(mostInFlight, state.inFlight)
  }

  private func start(_ round: SchedulerState.Round) {
    let name = names[round.key] ?? ""
    if !running.insert(round.key).inserted { overlaps += 1 }
    starts[name, default: []].append(now)
    startOrder.append(name)
    lags.append(round.lag.nanoseconds)
    deadlines.append(round.deadline.nanoseconds)
    let length = duration(name)
    if length < .max { ends.insert(EndQueue.End(at: now + length, key: round.key, number: round.number)) }
  }
}

/// Ends of rounds, soonest first: a binary heap.
struct EndQueue {
  struct End {
    let at: Int64
    let key: SchedulerState.Key
    let number: UInt32
  }

  private var heap: [End] = []

  var first: End? { heap.first }

  mutating func insert(_ end: End) {
    heap.append(end)
    var child = heap.count - 1
    while child > 0, heap[child].at < heap[(child - 1) / 2].at {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func popDue(at now: Int64) -> End? {
    guard let first = heap.first, first.at <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while 2 * parent + 1 < heap.count {
      var least = 2 * parent + 1
      if least + 1 < heap.count, heap[least + 1].at < heap[least].at { least += 1 }
      guard heap[least].at < heap[parent].at else { break }
      heap.swapAt(least, parent)
      parent = least
    }
    return first
  }
}
