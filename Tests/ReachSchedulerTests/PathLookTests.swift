import ReachCore
import ReachIO
import ReachProbe
import ReachScheduler
import ReachTestSupport
import Synchronization
import Testing

/// Looks at paths between rounds, by the scheduler as it runs, on virtual time.
@Suite(.timeLimit(.minutes(4))) struct SchedulerPathLookTests {
  /// A path that the test changes, and a peer that answers when it says so.
  private final class World: Sendable {
    struct State {
      var link = LinkFinding.State.usable
      var interface = (index: Int32(2), name: "eth0")
      var looked: [(tag: Int, look: PathLook)] = []
      var finished: [RoundReport] = []
      var outdated = 0
      var looksEnded = 0
      var answerTime = Duration.milliseconds(1)
      /// Whom connections wait for, deaf to cancellation.
      var gate: Gate?
    }

    let state: LoopConfined<State>
    let loop: EventLoop

    init(on loop: EventLoop) {
      self.loop = loop
      state = LoopConfined(State(), on: loop)
    }

    func observe(_ tag: Int, _ event: SchedulerEvent) {
      state.withState { state in
        switch event {
        case .looked(let look): state.looked.append((tag, look))
        case .finished(let report): state.finished.append(report)
        case .outdated: state.outdated += 1
        case .started, .skipped, .crowdedOut: break
        }
      }
    }

    func runner(_ name: String, interval: Duration = .seconds(15), host: ProbeHost) -> RoundRunner {
      var target = Target.web
      target.name = name
      target.policy.interval = interval
      let route = ScriptedBackend { [state] (_, context) throws(LocalFault) in
        let interface = state.withState { $0.interface }
        let finding = RouteFinding(.unicast, interfaceIndex: interface.index, interface: interface.name)
        return .route(context.candidates.map { _ in finding })
      }
      let link = ScriptedBackend { [state] (_, context) throws(LocalFault) in
        let (interface, link) = state.withState { ($0.interface, $0.link) }
        let finding = LinkFinding(interface: interface.name, index: interface.index, medium: .wired, state: link)
        return .link(context.candidates.map { _ in finding })
      }
      let tcp = ScriptedBackend { [state, loop] (_, context) throws(LocalFault) in
        await loop.sleep(until: loop.now().advanced(by: state.withState { $0.answerTime }))
        await state.withState { $0.gate }?.wait()
        return .tcp(context.candidates.map { _ in TCPFinding(.open) })
      }
      return RoundRunner(target: target, probes: [.route(route), .link(link), .tcp(tcp)], host: host)
    }
  }

  private func withWorld(
    targets: Int = 1, _ body: @escaping @Sendable (World, Scheduler, ManualClock, EventLoop) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    try await withEventLoop(clock: clock) { loop in
      let world = World(on: loop)
      let host = try testHost(on: loop)
      let scheduler = Scheduler(
        loop: loop, onLookEnd: { world.state.withState { $0.looksEnded += 1 } }, observer: world.observe)
      scheduler.add((0..<targets).map { ScheduledTarget(world.runner("t\($0)", host: host), tag: $0) })
      await clock.advance(by: .milliseconds(2000), on: loop)
      try await body(world, scheduler, clock, loop)
      await scheduler.stop()
    }
  }

  @Test("a change is looked at at once, with what the last round saw beyond this host")
  func atOnce() async throws {
    try await withWorld { world, scheduler, clock, loop in
      world.state.withState { $0.link = .noCarrier }
      scheduler.pathsMayHaveChanged(PathChange(links: [2], receivedAt: loop.now()))
      await loop.settle()
      let (looked, ended) = world.state.withState { ($0.looked, $0.looksEnded) }
      #expect(looked.count == 1 && ended == 1)
      #expect(looked.first?.look.findings.candidates.first?.link?.state == .noCarrier)
      #expect(looked.first?.look.findings.candidates.first?.tcp?.result == .open)
      #expect(looked.first?.look.changedAt == loop.now())
    }
  }

  @Test("a round that runs while its path changes is dropped, and another follows within two seconds")
  func outdated() async throws {
    try await withWorld { world, scheduler, clock, loop in
      world.state.withState { $0.answerTime = .seconds(3) }
      scheduler.probeNow()
      await clock.advance(by: .milliseconds(100), on: loop)
      let before = world.state.withState { $0.finished.count }
      world.state.withState {
        $0.interface = (3, "eth1")
        $0.answerTime = .milliseconds(1)
      }
      scheduler.pathsMayHaveChanged(PathChange(receivedAt: loop.now()))
      await clock.advance(by: .milliseconds(500), on: loop)
      #expect(world.state.withState { $0.outdated } == 1)
      #expect(world.state.withState { $0.finished.count } == before)
      await clock.advance(by: .milliseconds(1500), on: loop)
      #expect(world.state.withState { $0.finished.count } == before + 1)
      #expect(scheduler.counts.outdated == 1)
    }
  }

  @Test("a backend that is given up after the path changed says nothing of the path from before")
  func givenUp() async throws {
    try await withWorld { world, scheduler, clock, loop in
      let gate = Gate()
      world.state.withState { $0.gate = gate }
      scheduler.probeNow()
      await clock.advance(by: .milliseconds(100), on: loop)
      let before = world.state.withState { $0.finished.count }
      world.state.withState { $0.interface = (3, "eth1") }
      scheduler.pathsMayHaveChanged(PathChange(receivedAt: loop.now()))
      await clock.advance(by: .seconds(7), on: loop)
      let reports = world.state.withState { Array($0.finished.dropFirst(before)) }
      #expect(reports.map(\.findings.fault) == [LocalFault(.backendOverran, detail: "tcp")])
      #expect(reports.first?.findings.candidates.isEmpty == true)
      gate.open()
      await loop.settle()
    }
  }

  @Test("a first round that runs while something changes is reported, and another follows at once")
  func firstRound() async throws {
    let clock = ManualClock()
    try await withEventLoop(clock: clock) { loop in
      let world = World(on: loop)
      let scheduler = Scheduler(loop: loop, observer: world.observe)
      world.state.withState { $0.answerTime = .milliseconds(400) }
      scheduler.add([ScheduledTarget(world.runner("new", host: try testHost(on: loop)), tag: 0)])
      await clock.advance(by: .milliseconds(100), on: loop)
      scheduler.pathsMayHaveChanged(PathChange(receivedAt: loop.now()))
      await clock.advance(by: .milliseconds(800), on: loop)
      #expect(world.state.withState { ($0.finished.count, $0.looked.count) } == (2, 0))
      await scheduler.stop()
    }
  }

  @Test("a first round that is given up after something changed says nothing of the path either")
  func firstRoundGivenUp() async throws {
    let clock = ManualClock()
    try await withEventLoop(clock: clock) { loop in
      let world = World(on: loop)
      let scheduler = Scheduler(loop: loop, observer: world.observe)
      let gate = Gate()
      world.state.withState { $0.gate = gate }
      scheduler.add([ScheduledTarget(world.runner("new", host: try testHost(on: loop)), tag: 0)])
      await clock.advance(by: .milliseconds(100), on: loop)
      scheduler.pathsMayHaveChanged(PathChange(receivedAt: loop.now()))
      await clock.advance(by: .seconds(7), on: loop)
      let reports = world.state.withState { $0.finished }
      #expect(reports.map(\.findings.fault) == [LocalFault(.backendOverran, detail: "tcp")])
      #expect(reports.first?.findings.candidates.isEmpty == true)
      gate.open()
      await loop.settle()
      await scheduler.stop()
    }
  }

  @Test("a change that leaves a target's path as it was leaves its round alone")
  func unaffected() async throws {
    try await withWorld { world, scheduler, clock, loop in
      world.state.withState { $0.answerTime = .milliseconds(300) }
      scheduler.probeNow()
      await clock.advance(by: .milliseconds(100), on: loop)
      let before = world.state.withState { $0.finished.count }
      for _ in 0..<20 {
        scheduler.pathsMayHaveChanged(PathChange(receivedAt: loop.now()))
        await clock.advance(by: .milliseconds(20), on: loop)
      }
      #expect(world.state.withState { $0.finished.count } == before + 1)
      #expect(world.state.withState { $0.outdated } == 0)
    }
  }

  @Test("targets behind the links that changed are looked at first")
  func affectedFirst() async throws {
    try await withWorld(targets: 40) { world, scheduler, clock, loop in
      world.state.withState { $0.interface = (9, "eth9") }
      scheduler.probeNow(["t33", "t7"])
      await clock.advance(by: .milliseconds(100), on: loop)
      world.state.withState { $0.looked = [] }
      scheduler.pathsMayHaveChanged(PathChange(links: [9], receivedAt: loop.now()))
      await loop.settle()
      let order = world.state.withState { $0.looked.map(\.tag) }
      #expect(order.count == 40)
      #expect(Set(order.prefix(2)) == [7, 33])
    }
  }

  @Test("with nothing told, paths that no round has seen for half a minute are looked at all the same")
  func safetyNet() async throws {
    let clock = ManualClock()
    try await withEventLoop(clock: clock) { loop in
      let world = World(on: loop)
      let host = try testHost(on: loop)
      let scheduler = Scheduler(loop: loop, observer: world.observe)
      scheduler.add([
        ScheduledTarget(world.runner("seldom", interval: .seconds(3600), host: host), tag: 0),
        ScheduledTarget(world.runner("often", interval: .seconds(5), host: host), tag: 1),
      ])
      await clock.advance(by: .seconds(95), on: loop)
      let looked = world.state.withState { $0.looked }
      // The seldom one's own place may fall within this time and serve as a look.
      #expect((1...3).contains(looked.filter { $0.tag == 0 }.count))
      #expect(looked.allSatisfy { $0.tag == 0 && $0.look.changedAt == nil })
      await scheduler.stop()
    }
  }

  @Test("a backend that never comes back keeps no other target from being looked at")
  func stuckLook() async throws {
    let clock = ManualClock()
    try await withEventLoop(clock: clock) { loop in
      let world = World(on: loop)
      let host = try testHost(on: loop)
      let gate = Gate()
      let calls = Mutex(0)
      let route = ScriptedBackend { (_, context) throws(LocalFault) in
        let isFirst = calls.withLock { count in
          count += 1
          return count == 1
        }
        if !isFirst { await gate.wait() }
        return .route(context.candidates.map { _ in RouteFinding(.unicast, interfaceIndex: 2, interface: "eth0") })
      }
      var target = Target.web
      target.name = "stuck"
      let scheduler = Scheduler(loop: loop, observer: world.observe)
      scheduler.add([
        ScheduledTarget(RoundRunner(target: target, probes: [.route(route)], host: host), tag: 0),
        ScheduledTarget(world.runner("good", host: host), tag: 1),
      ])
      await clock.advance(by: .milliseconds(100), on: loop)
      scheduler.pathsMayHaveChanged(PathChange(receivedAt: loop.now()))
      await clock.advance(by: .milliseconds(1500), on: loop)
      #expect(world.state.withState { $0.looked.map(\.tag) } == [1])
      scheduler.pathsMayHaveChanged(PathChange(receivedAt: loop.now()))
      await clock.advance(by: .milliseconds(1500), on: loop)
      #expect(world.state.withState { $0.looked.map(\.tag) } == [1, 1])
      gate.open()
      await loop.settle()
      await scheduler.stop()
    }
  }
}
