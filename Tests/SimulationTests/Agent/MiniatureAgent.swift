@testable import ReachAggregator
import ReachCore
import ReachIO
import ReachProbe

@testable import ReachNetlink
@testable import ReachScheduler

/// The agent without a loop, sockets or tasks: its very policies, wired as `Scheduler`, `RoundRunner`, `LinkMonitor` and
/// `TargetBoard` wire them, on virtual time against a scripted world.
///
/// Nothing in it waits. What would is a time that `due` gives, and comes to pass with `turn`.
final class MiniatureAgent {
  let world: World
  let auditor: Auditor
  let runners: [RoundRunner]
  var standings: [Standing]
  var core: SchedulerCore
  var monitor = MonitorCore()
  var routes = RouteMemoryModel()
  var causes: CauseLedger
  /// What outlives a restart, along the targets.
  var kept: [Kept]
  var rounds: [LiveRound] = []
  var ends = Agenda<RoundEnd>()
  /// The look that goes on, the target it is at, if it has come to one, and when it goes on.
  var look: (number: UInt32, key: SchedulerState.Key?, dueAt: Int64)?
  /// How long a look takes for each target.
  let lookTime: Int64
  /// The host has been suspended and nobody has noticed.
  var hasSlept = false
  /// Whether timers come before descriptors in the next turn, as after a handler that took long.
  var putsTimersFirst = false
  /// What the wall clock is ahead of the monotonic one.
  var wallOffset: Int64 = 1_700_000_000 * Time.second
  private(set) var now: Int64

  private let settings: SchedulerSettings
  private let host: ProbeHost
  private let clock: ManualClock

  init(
    _ targets: [Target], world: World, auditor: Auditor, stage: Stage, settings: SchedulerSettings, lookTime: Int64,
    at now: Int64
  ) {
    self.world = world
    self.auditor = auditor
    self.now = now
    self.lookTime = lookTime
    host = stage.host
    clock = stage.clock
    clock.set(now)
    runners = targets.map { RoundRunner(target: $0, probes: stage.probes(of: $0), host: stage.host) }
    standings = runners.map { Standing($0, at: Instant(nanoseconds: now)) }
    self.settings = settings
    kept = targets.map { _ in Kept() }
    causes = CauseLedger(run: 0)
    core = SchedulerCore(settings, at: Instant(nanoseconds: now))
    begin()
  }

  /// As `Agent` begins: reads the kernel's table, then has every target probed.
  func begin() {
    causes = CauseLedger(run: UInt64(bitPattern: now))
    core = SchedulerCore(settings, at: instant)
    monitor = MonitorCore()
    routes.forget()
    readInterfaces()
    for (tag, runner) in runners.enumerated() { core.add(ScheduledTarget(runner, tag: tag), on: host.loop) }
    perform(core.takeActions())
  }

  var instant: Instant { Instant(nanoseconds: now) }
  var wall: Int64 { now &+ wallOffset }

  /// Whether nothing is wrong as far as it knows, and nothing is under way that might tell otherwise.
  var isWell: Bool {
    guard world.isHeard, monitor.nextRead == nil, look == nil else { return false }
    guard core.schedule.givenUp == 0, auditor.causes.isEmpty else { return false }
    return standings.allSatisfy { standing in
      let state = standing.judge.state
      return state.verdict.status.isReachable && !state.isStale && !standing.judge.isDamped
    }
  }

  // MARK: Turns of the loop

  /// When it has something to do next; `.max` for never.
  var due: Int64 {
    min(min(world.readableAt, ends.first ?? .max), timersDue)
  }

  private var timersDue: Int64 {
    var due = min(core.schedule.nextWake?.nanoseconds ?? .max, core.looking.due?.nanoseconds ?? .max)
    due = min(due, monitor.nextRead?.nanoseconds ?? .max)
    due = min(due, look?.dueAt ?? .max)
    due = min(due, causes.nextSettle?.nanoseconds ?? .max)
    for standing in standings { due = min(due, standing.judge.holdEnds?.nanoseconds ?? .max) }
    return due
  }

  /// Does what is due by now.
  func turn(at time: Int64) {
    now = max(now, time)
    auditor.now = now
    clock.set(now)
    if putsTimersFirst { fireTimers() }
    if world.readableAt <= now { readMessages() }
    while let end = ends.popDue(at: now) { proceed(end) }
    if !putsTimersFirst { fireTimers() }
    putsTimersFirst = false
  }

  private func fireTimers() {
    for tag in standings.indices where (standings[tag].judge.holdEnds ?? .distantFuture) <= instant { holdEnded(tag) }
    if let next = causes.nextSettle, next <= instant { tellCauses(causes.settle(at: instant)) }
    if let next = monitor.nextRead, next <= instant { perform(monitor.step(at: instant)) }
    if let look, look.dueAt <= now { goOn(look.key, look.number) }
    let isDue = (core.schedule.nextWake ?? .distantFuture) <= instant
    if isDue || (core.looking.due ?? .distantFuture) <= instant { wake() }
  }

  /// As `Scheduler.wake`.
  private func wake() {
    noticeSuspend()
    core.wake(at: instant)
    perform(core.takeActions())
    lookIfDue()
  }

  /// As `SchedulerCore.noticeSuspend`, for a host whose suspends are scripted.
  func noticeSuspend() {
    guard hasSlept else { return }
    hasSlept = false
    core.counts.suspends &+= 1
    core.schedule.restart(at: instant)
  }

  /// As `Scheduler.perform`.
  func perform(_ actions: [SchedulerState.Action]) {
    for action in actions {
      switch action {
      case .start(let round): start(round)
      case .skip(let key, let rounds):
        core.counts.skipped &+= UInt64(rounds)
        if let tag = core.slot(of: key)?.tag { skipped(rounds, tag) }
      case .crowdOut(_, let rounds):
        // No evidence is missing: the status stands.
        core.counts.skipped &+= UInt64(rounds)
      case .giveUp(let key, let number): giveUp(key, number)
      }
    }
    auditor.checkBounds(core)
  }

  /// Asks for rounds at once, as `Scheduler.probeNow` does.
  func probeNow() {
    for tag in standings.indices {
      if let key = core.keys[runners[tag].target.name] { core.schedule.probeNow(key, at: instant) }
    }
    clock.set(now)
    perform(core.takeActions())
  }

  /// What names lead to may have changed, as when resolv.conf is another one.
  func renewNames() {
    clock.set(now)
    for tag in standings.indices {
      guard case .host = runners[tag].target.kind, let key = core.keys[runners[tag].target.name] else { continue }
      if core.schedule.nameChanged(key, at: instant) {
        standings[tag].pathChanges += 1
        cancelRound(key)
      }
    }
    perform(core.takeActions())
  }
}

extension SchedulerCore {
  /// Does what is due.
  fileprivate mutating func wake(at now: Instant) { schedule.wake(at: now, into: &actions) }
}

extension ManualClock {
  /// Moves the clock on to that time; never back.
  func set(_ time: Int64) {
    let ahead = Instant(nanoseconds: time).since(now())
    if ahead > .zero { advance(by: ahead) }
  }
}

/// What all simulations of one thread share: a loop that never runs, whose clock they move, and a host that is never
/// asked anything.
struct Stage {
  let clock: ManualClock
  let host: ProbeHost

  init() throws {
    clock = ManualClock(start: Instant(nanoseconds: 0))
    let loop = try EventLoop(clock: clock)
    let session = try NetlinkSession(loop: loop)
    let links = try LinkMonitor(loop: loop, session: session)
    host = ProbeHost(
      loop: loop, links: links, netlink: session,
      defaultPath: [IPAddress(ipv4: 0x0909_0909), IPAddress(ipv4: 0xcb00_7101)])
  }

  private static let dns = PlannedProbe(name: "dns", layer: .dns, backend: UnaskedBackend())
  private static let route = PlannedProbe(name: "route", layer: .route, backend: UnaskedBackend())
  private static let link = PlannedProbe(name: "link", layer: .link, backend: UnaskedBackend())
  private static let tcp = PlannedProbe(name: "tcp", layer: .tcp, backend: UnaskedBackend())

  func probes(of target: Target) -> [PlannedProbe] {
    switch target.kind {
    case .host: [Self.dns, Self.route, Self.link] + (target.port == nil ? [] : [Self.tcp])
    case .address, .pair: [Self.route, Self.link] + (target.port == nil ? [] : [Self.tcp])
    case .defaultPath, .linkLocal: [Self.route, Self.link]
    case .interface: [Self.link]
    }
  }
}

/// Stands for a backend that is loaded; the world answers in its place.
private struct UnaskedBackend: ProbeBackend {
  func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    throw LocalFault(.notProbed)
  }
}
