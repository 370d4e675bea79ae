import ReachCore

@testable import ReachAggregator
@testable import ReachMetrics
@testable import ReachNetlink
@testable import ReachScheduler

/// Watches a simulation and says what does not hold.
///
/// It knows the world as it really is, which the agent has to find out, and keeps books of its own on what the agent
/// says.
final class Auditor {
  /// What led to a judgement.
  enum Origin {
    /// A round that began then.
    case round(Instant, Verdict)
    case look(Verdict)
    case hold
    case skip
    case dropped
  }

  /// What is known of one target.
  struct Book {
    let target: Target
    var isReady = false
    var readyAt = Int64.max
    var status = Status.unknown
    var sequence: UInt64 = 0
    var began: Int64?
    /// The same by the wall clock, as it was told.
    var since: Int64 = 0
    /// Whether the status is from before a restart and no evidence has borne it out.
    var isRestored = false
    /// The time in any status that was accounted for before the newest restart, and when that was.
    var accounted: (before: Int64, from: Int64)
    var transitions: [Status: UInt32] = [:]
    /// Failures in a row that need confirmation.
    var failures = 0
    /// Rounds in a row that said nothing.
    var blindRounds = 0
    /// Since when every word on the path has been that it is broken.
    var pathFailedSince: Int64?

    var lastBadAt = Int64.min
    var lastGoodAt = Int64.min
    var isGood = true
    /// Since when no packet for it could leave this host.
    var pathlessSince: Int64?

    var started = 0
    var ended = 0
    var givenUp = 0

    init(_ target: Target, at now: Int64) {
      self.target = target
      accounted = (0, now)
    }
  }

  let world: World
  var books: [Book]
  /// What may go wrong in this simulation.
  let trouble: Trouble
  /// From when on nothing but the world itself delays what the agent says; `.max` while something does.
  var clearSince = Int64.min
  /// The longest that a change the kernel tells of may take to be published.
  let detection: Int64
  /// Of all that was published, so that two simulations can be compared.
  var digests: [UInt64]
  private(set) var violations: [String] = []
  var now: Int64 = 0
  private let start: Int64
  /// Told of everything, when somebody reads along.
  let trace: ((String) -> Void)?
  /// What has come to pass, to tell whether a simulation shows anything.
  var tally = Tally()
  /// Causes that have been announced and not cleared, by their identifiers, and those that ever were.
  var causes: [String: Cause] = [:]
  var announced: Set<String> = []
  /// The cause that each target is said to fail for.
  var assigned: [Int: Cause] = [:]

  /// Where it fits in the simulation, for digests.
  var elapsed: Int64 { now - start }

  /// Rounds before the newest restart.
  var roundsBefore = 0

  /// How often what has come to pass.
  struct Tally {
    var rounds = 0
    var looks = 0
    var transitions = 0
    var outdated = 0
    var starved = 0
    var givenUp = 0
    var causes = 0

    static func += (left: inout Tally, right: Tally) {
      left.rounds += right.rounds
      left.looks += right.looks
      left.transitions += right.transitions
      left.outdated += right.outdated
      left.starved += right.starved
      left.givenUp += right.givenUp
      left.causes += right.causes
    }
  }

  init(
    _ targets: [Target], _ world: World, _ trouble: Trouble, detection: Int64, trace: ((String) -> Void)?, at now: Int64
  ) {
    start = now
    self.trace = trace
    self.world = world
    self.trouble = trouble
    self.detection = detection
    self.now = now
    books = targets.map { Book($0, at: now) }
    digests = targets.map { _ in 0xcbf2_9ce4_8422_2325 }
    observeWorld(at: now)
  }

  /// The time since the start, in seconds.
  private var time: Double { Double(now - start) / 1e9 }

  func fail(_ tag: Int? = nil, _ text: @autoclosure () -> String) {
    guard violations.count < 5 else { return }
    let name = tag.map { "\(books[$0].target.name): " } ?? ""
    let line = "at \(time) s: \(name)\(text())"
    violations.append(line)
    trace?("VIOLATION \(line)")
  }

  func note(_ text: @autoclosure () -> String) {
    if let trace { trace("\(time) \(text())") }
  }

  // MARK: The world

  /// Takes note of how every target really is from now on. `isInstant`: something happened that was over at once.
  func observeWorld(at time: Int64, isInstant: Bool = false) {
    now = time
    for tag in books.indices {
      let truth = world.truth(of: books[tag].target)
      if !truth.isGood || !books[tag].isGood || isInstant { books[tag].lastBadAt = time }
      if truth.isGood || books[tag].isGood { books[tag].lastGoodAt = time }
      books[tag].isGood = truth.isGood
      books[tag].pathlessSince = truth.hasPath ? nil : books[tag].pathlessSince ?? time
    }
  }

  // MARK: Rounds

  func started(_ round: SchedulerState.Round, _ tag: Int, among rounds: [LiveRound]) {
    books[tag].started += 1
    tally.rounds += 1
    note("\(books[tag].target.name) round \(round.number) starts")
    if rounds.contains(where: { $0.round.key == round.key }) { fail(tag, "two rounds together") }
  }

  func ended(_ live: LiveRound, _ disposition: SchedulerState.Disposition, pathChanges: Int) {
    books[live.tag].ended += 1
    note("\(books[live.tag].target.name) round \(live.round.number) ends: \(disposition)")
    switch disposition {
    case .report:
      if pathChanges != live.pathChanges { fail(live.tag, "a round from before a change of the path counts") }
    case .starved:
      tally.starved += 1
      if !trouble.contains(.stall), !trouble.contains(.suspend) { fail(live.tag, "starved in a host that runs") }
    case .outdated:
      tally.outdated += 1
      if pathChanges == live.pathChanges { fail(live.tag, "outdated without a change of the path") }
    case .late: books[live.tag].givenUp -= 1
    }
  }

  func gaveUp(_ tag: Int) {
    books[tag].givenUp += 1
    tally.givenUp += 1
    note("\(books[tag].target.name) gives up")
    // A process that comes back to itself just when it looks for stuck backends cannot tell one from those it held up.
    if trouble.isDisjoint(with: [.stuck, .stall]) { fail(tag, "gave up a backend that keeps to its time") }
  }

  func checkBounds(_ core: SchedulerCore) {
    let schedule = core.schedule
    if schedule.waiting > books.count { fail(nil, "\(schedule.waiting) rounds wait") }
    if schedule.inFlight > max(1, schedule.settings.maximumInFlight) { fail(nil, "too many rounds run") }
    if schedule.inFlight + schedule.givenUp > books.count { fail(nil, "more rounds than targets") }
  }

  /// The agent has been started anew, and goes on from what it had kept.
  func restarted(_ standings: [Standing], wall: Int64) {
    note("restarted")
    causes = [:]
    assigned = [:]
    roundsBefore = books.reduce(0) { $0 + $1.started }
    for tag in books.indices {
      books[tag].ended = books[tag].started
      books[tag].givenUp = 0
      (books[tag].isReady, books[tag].readyAt) = (false, .max)
      (books[tag].failures, books[tag].blindRounds, books[tag].pathFailedSince) = (0, 0, nil)
      var accounted: Int64 = 0
      for status in Status.allCases {
        accounted += standings[tag].series.nanoseconds(in: status, at: Instant(nanoseconds: now))
      }
      books[tag].accounted = (accounted, now)
      guard books[tag].began != nil else { continue }
      books[tag].isRestored = true
      books[tag].began = now - max(0, wall - books[tag].since)
      let state = standings[tag].judge.state
      if state.sequence != books[tag].sequence || state.verdict.status != books[tag].status {
        fail(tag, "\(state.verdict.status), \(state.sequence) after a restart, not \(books[tag].status)")
      }
      if !state.isStale { fail(tag, "is not stale after a restart") }
    }
  }

  // MARK: The path

  func told(_ change: NetworkChange) {
    note("told of \(change.kinds.rawValue) on \(change.links)")
    if change.kinds.isEmpty { fail(nil, "told of nothing") }
  }

  /// Messages were lost. Until all has been read again, which may take so many readings, the agent cannot know.
  func lost(untilReadAgain readings: Int) {
    clearSince = max(clearSince, now + (1 + Int64(readings)) * Time.second)
  }

  func lookEnded(at time: Int64) {
    now = time
    tally.looks += 1
    note("look ends")
  }

  /// What must hold whenever the agent has done all there is to do: what the kernel has told of is published in time.
  func checkDetection(_ standings: [Standing], at time: Int64) {
    now = time
    for tag in books.indices {
      guard let pathless = books[tag].pathlessSince, books[tag].isReady else { continue }
      let since = max(pathless, max(clearSince, books[tag].readyAt))
      let limit = detection + books[tag].target.policy.hold.nanoseconds
      guard since < time - limit else { continue }
      let verdict = standings[tag].judge.state.verdict
      let isName = if case .host = books[tag].target.kind { true } else { false }
      if verdict.status == .unknown, books[tag].blindRounds > books[tag].target.policy.unknownAfter { continue }
      if verdict.status != .notReachable {
        fail(tag, "no path for \(Double(time - pathless) / 1e9) s and \(verdict.status), \(verdict.reason)")
      } else if !isName, verdict.reason.layer != .link, verdict.reason.layer != .route {
        fail(tag, "no path for \(Double(time - pathless) / 1e9) s and the reason is \(verdict.reason)")
      }
    }
  }
}
