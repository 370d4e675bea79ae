import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import ReachScheduler

/// What a change of the resolver's configuration does to the schedule.
@Suite(.timeLimit(.minutes(4))) struct NameChangeTests {
  @Test("a thousand names get a fresh round soon, spread as first rounds are, and keep their places")
  func spread() {
    let world = VirtualSchedule()
    let names = (0..<1000).map { "t\($0)" }
    for name in names { world.add(name, interval: .seconds(600), timeout: .seconds(5)) }
    world.run(until: .seconds(700))
    let before = world.starts.mapValues(\.count)
    for name in names { world.nameChanged(name) }
    world.run(until: .milliseconds(701_100))
    let fresh = names.compactMap { name in world.starts[name]?.dropFirst(before[name] ?? 0).first }
    #expect(fresh.count == 1000)
    #expect(fresh.filter { $0 == 700_000_000_000 }.count >= 20)
    let perSlot = Dictionary(grouping: fresh) { $0 / 10_000_000 }.mapValues(\.count)
    #expect((perSlot.values.max() ?? 0) <= 40)
    #expect(world.skips.isEmpty)
  }

  @Test("rounds that run are outdated, and fresh ones follow their ends, spread too")
  func outdated() {
    let world = VirtualSchedule(maximumInFlight: 1000)
    let names = (0..<500).map { "t\($0)" }
    for name in names { world.add(name, interval: .seconds(600), timeout: .seconds(300)) }
    world.duration = { _ in 200_000_000_000 }
    world.run(until: .seconds(10))
    #expect(world.state.inFlight == 500)
    for name in names { world.nameChanged(name) }
    world.duration = { _ in 1_000_000 }
    world.run(until: .seconds(202))
    #expect(world.outdated == 500)
    let fresh = names.compactMap { world.starts[$0]?.dropFirst().first }
    #expect(fresh.count == 500)
    #expect(world.overlaps == 0)
    let perSlot = Dictionary(grouping: fresh) { $0 / 10_000_000 }.mapValues(\.count)
    #expect((perSlot.values.max() ?? 0) <= 50)
  }

  @Test("many changes come to one round, and a round that waits for others is the one")
  func merges() {
    let world = VirtualSchedule(maximumInFlight: 1)
    world.duration = { _ in 1_000_000_000 }
    world.add("a", interval: .seconds(60), timeout: .seconds(5))
    world.add("b", interval: .seconds(60), timeout: .seconds(5))
    world.run(until: .milliseconds(500))
    #expect(world.state.waiting == 1)
    for _ in 0..<10 { world.nameChanged("b") }
    for _ in 0..<10 { world.nameChanged("a") }
    world.run(until: .seconds(10))
    #expect(world.starts["b"]?.count == 1)
    #expect(world.starts["a"]?.count == 2)
  }

  @Test("a scheduler cancels the rounds of names, tells them as outdated and begins anew; addresses go on")
  func cancels() async throws {
    try await withEventLoop { loop in
      let events = LoopConfined([Int: [SchedulerEvent]](), on: loop)
      let scheduler = Scheduler(loop: loop) { tag, event in events.withState { $0[tag, default: []].append(event) } }
      let host = try testHost(on: loop)
      let patient = ScriptedBackend { (_, context) throws(LocalFault) in
        await context.host.loop.sleep(until: context.deadline)
        return .dns(DNSFinding(.failed(.dnsTimeout)))
      }
      func slow(_ target: Target, _ probe: PlannedProbe, tag: Int) -> ScheduledTarget {
        var target = target
        target.policy.interval = .seconds(600)
        target.policy.timeout = .seconds(600)
        return ScheduledTarget(RoundRunner(target: target, probes: [probe], host: host), tag: tag)
      }
      scheduler.add([slow(.named, .dns(patient), tag: 1), slow(.web, .tcp(patient), tag: 2)])
      while scheduler.counts.running < 2 { await loop.sleep(until: loop.now().advanced(by: .milliseconds(1))) }
      scheduler.namesMayHaveChanged()
      while patient.calls.count < 3 { await loop.sleep(until: loop.now().advanced(by: .milliseconds(1))) }
      let outdated = events.withState { $0.mapValues { $0.count { if case .outdated = $0 { true } else { false } } } }
      #expect(outdated == [1: 1, 2: 0])
      _ = await scheduler.stop()
    }
  }
}
