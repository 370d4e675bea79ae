import ReachCore
import ReachIO

@testable import ReachScheduler

/// One run of the agent in a world in which anything may happen, all of which follows from a seed: troubled times, then
/// everything is mended, and after a while all must be well.
final class Simulation {
  let seed: UInt64
  let trouble: Trouble
  let world: World
  let auditor: Auditor
  let agent: MiniatureAgent
  var random: Seeded

  private let start: Int64
  private var now: Int64
  /// The process does not run before this time.
  private var stalledUntil = Int64.min
  /// How many events are to come close upon one another, of links alone.
  private var burst = 0
  private let kinds: [Trouble]
  private var nextEvent: Int64
  private let troubleEnds: Int64
  private var isMended = false
  private let ends: Int64
  /// Whether it ends as soon as all is well.
  private let endsEarly: Bool

  /// What is different from the simulation that the seed alone gives.
  struct Variation {
    /// Nothing else goes wrong.
    var only = Trouble(rawValue: .max)
    /// The targets are declared in the opposite order.
    var isReversed = false
    /// Messages arrive, and looks end, at once; rounds come in their places alone.
    var isPrompt = false
  }

  init(seed: UInt64, on stage: Stage, _ variation: Variation = Variation(), trace: ((String) -> Void)? = nil) {
    self.seed = seed
    var random = Seeded(seed: seed)
    let trouble = Trouble(&random).intersection(variation.only)
    let base: Duration = random.pick([.seconds(1), .seconds(2), .seconds(5), .seconds(5), .seconds(15)])
    var targets = Cast.targets(&random, base: base)
    if variation.isReversed { targets.reverse() }
    let world = World()
    let latency = Int64(random.below(300)) * Time.microsecond
    world.latency = variation.isPrompt ? 0 : latency
    if trouble.contains(.loss) { world.capacity = 1 + random.below(6) }
    if random.chance(30) { world.routes.append(World.modemRoute) }
    var settings = SchedulerSettings()
    if variation.isPrompt { settings.followUpDelay = .seconds(3600) }
    if trouble.contains(.scarcity) { settings.maximumInFlight = 1 + random.below(2) }
    var lookTime = random.pick([0, 0, 0, Time.millisecond, 40 * Time.millisecond])
    if variation.isPrompt { lookTime = 0 }
    let detection = 1_002 * Time.millisecond + world.latency + 2 * Int64(targets.count) * lookTime
    // The clock of a stage goes on from one simulation to the next. Each begins at the same time of a minute, which the
    // intervals go into, so that targets have the same places.
    start = (stage.clock.now().nanoseconds / (60 * Time.second) + 1) * 60 * Time.second
    now = start
    self.trouble = trouble
    kinds = trouble.kinds
    self.world = world
    auditor = Auditor(targets, world, trouble, detection: detection, trace: trace, at: start)
    auditor.note("\(targets.map { "\($0.name) \($0.policy.interval)" }), trouble \(trouble.rawValue)")
    agent = MiniatureAgent(
      targets, world: world, auditor: auditor, stage: stage, settings: settings, lookTime: lookTime, at: start)
    nextEvent = start + random.spread(from: Time.millisecond, to: 4 * Time.second)
    // Most are short, so that there can be many.
    let isLong = random.chance(2)
    let intervals = isLong ? 30 : Int64(1 + random.below(4))
    troubleEnds = start + max(3 * Time.second, intervals * base.nanoseconds)
    endsEarly = !isLong && random.chance(80)
    ends = troubleEnds + Self.recovery(of: targets, trouble)
    self.random = random
  }

  /// How long after everything has been mended all must be well: as many rounds as count, and one that was given up.
  private static func recovery(of targets: [Target], _ trouble: Trouble) -> Int64 {
    targets.map { target in
      let policy = target.policy
      let rounds = Int64(policy.rise) + 1 + (trouble.contains(.scarcity) ? 3 : 0)
      return rounds * policy.interval.nanoseconds + policy.timeout.nanoseconds
    }.max() ?? 0
  }

  /// Runs it. Returns what did not hold.
  func run() -> [String] {
    while auditor.violations.isEmpty {
      let world = isMended ? Int64.max : min(nextEvent, troubleEnds)
      let turn = max(agent.due, stalledUntil)
      guard min(world, turn) <= ends else { break }
      if world <= turn {
        now = max(now, world)
        if now >= troubleEnds { mend() } else { happen() }
        auditor.observeWorld(at: now)
      } else {
        now = max(now, turn)
        agent.turn(at: now)
        auditor.checkDetection(agent.standings, at: now)
        if isMended, endsEarly, agent.isWell { break }
      }
    }
    if auditor.violations.isEmpty {
      if !endsEarly || !agent.isWell { agent.turn(at: ends) }
      auditor.checkEnd(agent)
    }
    return auditor.violations
  }

  private func mend() {
    auditor.note("all is mended")
    world.mend(at: now)
    // On the way names are taken away and given back.
    auditor.observeWorld(at: now, isInstant: true)
    stalledUntil = .min
    isMended = true
    auditor.clearSince = now + 2 * Time.second
  }

  // MARK: What happens

  private func happen() {
    burst -= 1
    nextEvent =
      now
      + (burst > 0
        ? Int64(random.below(30)) * Time.millisecond : random.spread(from: Time.millisecond, to: 6 * Time.second))
    if burst <= 0, random.chance(10) || kinds.isEmpty { return harmless() }
    switch burst > 0 ? .links : random.pick(kinds) {
    case .links: linkEvent()
    case .routes: routeEvent()
    case .interfaces: interfaceEvent()
    case .hosts: hostEvent()
    case .names: nameEvent()
    case .faults: faultEvent()
    case .stall: stall()
    case .suspend: suspend()
    case .loss: world.disturbedReadings = random.below(3)
    case .stuck:
      world.stuckUntil = min(troubleEnds, now + random.spread(from: 10 * Time.millisecond, to: 20 * Time.second))
    case .secrets: secret()
    // The agent does not start where the kernel does not let it read its tables.
    case .restart where now >= stalledUntil && !world.refusesQuestions && world.disturbedReadings == 0:
      agent.turn(at: now)
      agent.restart(isKilled: random.chance(50))
    default: harmless()
    }
  }

  /// Nothing that matters to any target.
  private func harmless() {
    let place = random.below(3)
    switch random.below(7) {
    case 0: world.renewAddress(place, at: now)
    case 1: if world.interfaces[place] != nil { world.change(place, at: now) { $0.mtu ^= 4 } }
    case 2: agent.wallOffset += Int64(random.below(7200) - 3600) * Time.second
    case 3 where now >= stalledUntil: agent.turn(at: now); agent.probeNow()
    case 4 where now >= stalledUntil: agent.turn(at: now); agent.renewNames()
    default: break
    }
  }

  private func linkEvent() {
    if burst <= 0, random.chance(10) { burst = 2 + random.below(40) }
    let place = random.below(3)
    switch random.below(10) {
    case 0, 1, 2, 3, 4: world.setCarrier(place, world.interfaces[place]?.hasCarrier == false, at: now)
    case 5: world.setDown(place, at: now)
    case 6: world.setUp(place, at: now)
    case 7: if world.interfaces[place]?.isUp == true { world.change(place, at: now) { $0.isDormant.toggle() } }
    case 8:
      world.flap(place, at: now)
      auditor.observeWorld(at: now, isInstant: true)
    default: for route in World.ordinaryRoutes { world.add(route, at: now) }
    }
    auditor.note("links \(world.interfaces.map { $0.map { "\($0.isUp) \($0.hasCarrier) \($0.isDormant)" } ?? "-" })")
  }

  private func routeEvent() {
    let refusals: [Reason] = [.routeBlackhole, .routeUnreachable, .routeProhibit]
    switch random.below(9) {
    case 0: world.removeRoutes(at: now, telling: .all) { $0.network == .defaultIPv4 }
    case 1: for route in World.ordinaryRoutes { world.add(route, at: now) }
    case 2: world.add(World.modemRoute, at: now)
    case 3:
      world.add(World.Route(network: .branch, refusal: random.pick(refusals), metric: random.pick([10, 200])), at: now)
    case 4: world.removeRoutes(at: now, telling: .all) { $0.refusal != nil }
    case 5: world.setProhibited(random.chance(40), at: now)
    case 6: world.setIgnoringRoutesWithLinkDown(random.chance(50), at: now)
    case 7: world.removeRoutes(at: now, telling: .nexthop) { $0.gateway != nil && $0.network == .defaultIPv4 }
    default: world.removeRoutes(at: now, telling: .all) { $0.network == .branch || $0.network == .defaultIPv6 }
    }
    auditor.note("routes \(world.routes.count), prohibited \(world.isProhibited)")
  }

  private func interfaceEvent() {
    let place = random.below(3)
    switch random.below(6) {
    case 0: world.removeAddress(place, at: now)
    case 1: world.addAddress(place, at: now)
    case 2: world.rename(place, to: random.pick(World.names + ["lan0", "lan1"]), at: now)
    case 3: world.delete(place, at: now)
    case 4: world.create(place, at: now)
    default: for route in World.ordinaryRoutes { world.add(route, at: now) }
    }
    auditor.note("interfaces \(world.interfaces.map { $0.map { "\($0.name) \($0.index) \($0.hasAddress)" } ?? "-" })")
  }

  private func hostEvent() {
    let place = random.below(Place.allCases.count)
    let reasons: [Reason] = [.tcpHostUnreachable, .tcpNetUnreachable, .tcpAdminProhibited]
    world.answers[place] = random.pick([.open, .open, .refused, .silent, .failed(random.pick(reasons))])
    world.delays[place] = random.spread(from: 100 * Time.microsecond, to: 6 * Time.second)
    auditor.note("\(Place.allCases[place]) \(world.answers[place]) in \(world.delays[place]) ns")
  }

  private func nameEvent() {
    let reasons: [Reason] = [.dnsServFail, .dnsRefused, .dnsNXDomain, .dnsNoData, .dnsMalformed]
    switch random.below(4) {
    case 0: world.resolver = random.pick([.answers, .silent, .failed(random.pick(reasons))])
    case 1: world.resolverDelay = random.spread(from: 100 * Time.microsecond, to: 4 * Time.second)
    case 2: world.addresses = random.pick([[.web, .web6], [.mirror], [.web6], [.web, .mirror, .web6]])
    default: world.ttl = .seconds(1 + random.below(30))
    }
    auditor.note("resolver \(world.resolver) in \(world.resolverDelay) ns, \(world.addresses)")
  }

  private func faultEvent() {
    switch random.below(4) {
    case 0: world.lacksDescriptors.toggle()
    case 1: world.lacksMemory.toggle()
    case 2: world.refusesQuestions.toggle()
    default: (world.lacksDescriptors, world.lacksMemory, world.refusesQuestions) = (false, false, false)
    }
    let isFaulty = world.lacksDescriptors || world.lacksMemory || world.refusesQuestions
    auditor.clearSince = isFaulty ? .max : now + 22 * Time.second
    auditor.note("faults \(world.lacksDescriptors) \(world.lacksMemory) \(world.refusesQuestions)")
  }

  private func stall() {
    stalledUntil = min(troubleEnds, now + random.spread(from: 10 * Time.millisecond, to: 20 * Time.second))
    agent.putsTimersFirst = random.chance(50)
    auditor.clearSince = max(auditor.clearSince, stalledUntil)
    auditor.note("stalled for \(stalledUntil - now) ns")
  }

  /// The clock stands still and the world goes on.
  private func suspend() {
    auditor.note("suspended")
    for _ in 0..<random.below(4) where trouble.contains(.links) { linkEvent() }
    for _ in 0..<random.below(3) where trouble.contains(.routes) { routeEvent() }
    world.cuts += 1
    agent.hasSlept = true
    agent.wallOffset += random.spread(from: Time.second, to: 100_000 * Time.second)
    agent.resumeAll()
    auditor.clearSince = max(auditor.clearSince, now)
  }

  private func secret() {
    world.removeRoutes(at: now, telling: .nothing) { $0.network == .branch || $0.network == .defaultIPv4 }
    auditor.clearSince = max(auditor.clearSince, now + 36 * Time.second)
    auditor.note("routes vanish")
  }
}
