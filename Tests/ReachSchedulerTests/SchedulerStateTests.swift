import ReachCore
import ReachScheduler
import Testing

@Suite struct SchedulerStateTests {
  @Test("up to twenty first rounds start together, more follow at about one a millisecond")
  func firstRounds() {
    let world = VirtualSchedule()
    for index in 0..<120 { world.add("target \(index)", interval: .seconds(15)) }
    world.run(until: .milliseconds(200))
    let starts = world.firstStarts
    #expect(starts.count == 120)
    #expect(starts.values.filter { $0 == 0 }.count >= 20)
    #expect(starts.values.filter { $0 == 0 }.count < 25)
    #expect(starts.values.allSatisfy { $0 <= 110_000_000 })
    for moment in Set(starts.values) where moment > 0 {
      #expect(starts.values.filter { $0 == moment }.count <= 12, "no second burst")
    }
  }

  @Test("twenty thousand targets still have their first rounds within one interval")
  func manyFirstRounds() {
    let world = VirtualSchedule()
    for index in 0..<20_000 { world.add("target \(index)", interval: .seconds(1), timeout: .milliseconds(100)) }
    world.run(until: .seconds(1))
    #expect(world.firstStarts.count == 20_000)
    var perSlot: [Int64: Int] = [:]
    for start in world.firstStarts.values { perSlot[start / 50_000_000, default: 0] += 1 }
    #expect(perSlot.values.allSatisfy { $0 < 1_400 }, "spread over the interval rather than in one burst")
  }

  @Test("after the first round a target keeps its place in the interval, without drift")
  func noDrift() {
    let world = VirtualSchedule()
    world.duration = { _ in 300_000_000 }
    world.add("db", interval: .seconds(2))
    world.run(until: .seconds(3600))
    let starts = world.starts["db"] ?? []
    #expect(starts.count >= 1799)
    let places = Set(starts.dropFirst().map { $0 % 2_000_000_000 })
    #expect(places.count == 1)
    #expect(zip(starts.dropFirst(), starts.dropFirst(2)).allSatisfy { $1 - $0 == 2_000_000_000 })
  }

  @Test("a target's place follows from its name alone: others that come and go do not move it")
  func stablePlace() {
    func places(_ others: [String]) -> Set<Int64> {
      let world = VirtualSchedule()
      for other in others { world.add(other, interval: .seconds(5)) }
      world.add("db", interval: .seconds(10))
      world.run(until: .seconds(45))
      for other in others { world.remove(other) }
      world.run(until: .seconds(100))
      return Set((world.starts["db"] ?? []).dropFirst().map { $0 % 10_000_000_000 })
    }
    let alone = places([])
    #expect(alone.count == 1)
    #expect(places(["a", "b", "c"]) == alone)
  }

  @Test("an interval that slots do not divide keeps its pace on average, and moves by less than a slot")
  func oddInterval() {
    let world = VirtualSchedule()
    world.add("odd", interval: .milliseconds(1234))
    world.run(until: .seconds(1234))
    let starts = Array((world.starts["odd"] ?? []).dropFirst())
    #expect((998...1001).contains(starts.count))
    #expect(zip(starts, starts.dropFirst()).allSatisfy { abs($1 - $0 - 1_234_000_000) <= 50_000_000 })
  }

  @Test("targets share wake-ups: a thousand at one a second need about twenty a second")
  func sharedWakeUps() {
    let world = VirtualSchedule()
    for index in 0..<1000 { world.add("target \(index)", interval: .seconds(1)) }
    world.run(until: .seconds(5))
    let before = world.wakes
    world.run(until: .seconds(15))
    #expect(world.wakes - before <= 210)
  }

  @Test("a round that takes longer than the interval makes others be skipped and counted, never overlap")
  func noOverlap() {
    let world = VirtualSchedule(grace: .seconds(10))
    world.duration = { _ in 1_800_000_000 }
    world.add("slow", interval: .seconds(1), timeout: .seconds(1))
    world.run(until: .seconds(31))
    #expect(world.overlaps == 0)
    let starts = world.starts["slow"]?.count ?? 0
    let skips = world.skips["slow"] ?? 0
    #expect((16...18).contains(starts))
    #expect((30...32).contains(starts + skips))
  }

  @Test("no more rounds run together than allowed; the rest wait in order and the wait is their lag")
  func boundedConcurrency() {
    let world = VirtualSchedule(maximumInFlight: 4)
    world.duration = { _ in 100_000_000 }
    for index in 0..<20 { world.add("target \(index)", interval: .seconds(10)) }
    world.run(until: .milliseconds(600))
    #expect(world.mostInFlight == 4)
    #expect(world.firstStarts.count == 20)
    #expect(world.lags.max() == 400_000_000)
    let order = world.startOrder
    #expect(order == order.sorted { (Int($0.split(separator: " ")[1]) ?? 0) < (Int($1.split(separator: " ")[1]) ?? 0) })
  }

  @Test("the deadline is counted from a round's start, not from when it began to wait")
  func deadlineFromStart() {
    let world = VirtualSchedule(maximumInFlight: 1)
    world.duration = { _ in 400_000_000 }
    world.add("first", interval: .seconds(10), timeout: .seconds(1))
    world.add("second", interval: .seconds(10), timeout: .seconds(1))
    world.run(until: .seconds(2))
    #expect(world.deadlines == [1_000_000_000, 1_400_000_000])
  }

  @Test("after a long gap each target has one fresh round, spread like first rounds, and the missed ones are counted")
  func gap() {
    let world = VirtualSchedule()
    for index in 0..<100 { world.add("target \(index)", interval: .seconds(1)) }
    world.run(until: .seconds(5))
    world.starts = [:]
    world.sleepThrough(.seconds(3600))
    let resumed = world.now
    world.run(until: .nanoseconds(resumed + 900_000_000))
    #expect(world.starts.count == 100)
    #expect(world.starts.values.allSatisfy { $0.count <= 2 })
    let burst = world.starts.values.filter { $0[0] == resumed }.count
    #expect(burst <= 35, "the burst, and those whose own place this is")
    #expect(world.skips.values.allSatisfy { $0 >= 3598 })
    #expect(world.overlaps == 0)
  }

  @Test("after a gap shorter than the interval overdue rounds are spread too, and none is skipped")
  func shortGap() {
    let world = VirtualSchedule()
    for index in 0..<1000 { world.add("target \(index)", interval: .seconds(15)) }
    world.run(until: .seconds(60))
    world.starts = [:]
    world.sleepThrough(.seconds(10))
    let resumed = world.now
    // The burst, and those that were due in the last second: no more than usual of a busy machine.
    #expect(world.starts.count <= 120)
    world.run(until: .nanoseconds(resumed + 1_500_000_000))
    #expect(world.starts.count >= 600)
    #expect(world.starts.values.allSatisfy { $0.count == 1 })
    #expect(world.skips.isEmpty)
    #expect(world.overlaps == 0)
  }

  @Test("a backend past its deadline and grace is given up once; its target alone stands still, its end is late")
  func overrun() {
    let world = VirtualSchedule()
    world.duration = { $0 == "stuck" ? 20_000_000_000 : 1_000_000 }
    world.add("stuck", interval: .seconds(1), timeout: .milliseconds(500))
    world.add("good", interval: .seconds(1), timeout: .milliseconds(500))
    world.run(until: .seconds(19))
    #expect(world.givenUp == ["stuck"])
    #expect(world.starts["stuck"]?.count == 1)
    #expect((world.starts["good"]?.count ?? 0) >= 18)
    #expect((world.skips["stuck"] ?? 0) >= 17)
    world.run(until: .seconds(25))
    #expect(world.late == 1)
    #expect((world.starts["stuck"]?.count ?? 0) >= 2)
  }

  @Test("stuck backends take no room from others")
  func stuckTakesNoRoom() {
    let world = VirtualSchedule(maximumInFlight: 2)
    world.duration = { $0.hasPrefix("stuck") ? .max : 1_000_000 }
    for name in ["stuck a", "stuck b", "stuck c", "good"] {
      world.add(name, interval: .seconds(1), timeout: .milliseconds(200))
    }
    world.run(until: .seconds(10))
    #expect(world.givenUp.count == 3)
    #expect((world.starts["good"]?.count ?? 0) >= 8)
  }

  @Test("a target whose rounds take all of the interval loses none of them")
  func timeoutOfTheInterval() {
    let world = VirtualSchedule()
    world.duration = { _ in 2_003_000_000 }
    world.add("silent", interval: .seconds(2), timeout: .seconds(2))
    world.run(until: .seconds(61))
    #expect((world.starts["silent"]?.count ?? 0) >= 29)
    #expect(world.skips.isEmpty && world.givenUp.isEmpty && world.overlaps == 0)
  }

  @Test("a process that was held up blames no backend: the result is dropped and the target probed again")
  func starvation() {
    let world = VirtualSchedule()
    world.duration = { _ in 400_000_000 }
    world.add("db", interval: .seconds(10), timeout: .seconds(1))
    world.run(until: .milliseconds(100))
    world.sleepThrough(.seconds(5))
    world.run(until: .seconds(7))
    #expect(world.givenUp.isEmpty)
    #expect(world.starved == 1)
    #expect(world.starts["db"]?.count == 2)
  }

  @Test("a request to probe now starts an idle target at once, and many requests while it runs come to one more round")
  func probeNow() {
    let world = VirtualSchedule()
    world.duration = { _ in 100_000_000 }
    world.add("db", interval: .seconds(60), timeout: .seconds(1))
    world.run(until: .seconds(1))
    for _ in 0..<5 { world.probeNow("db") }
    world.run(until: .milliseconds(1050))
    for _ in 0..<5 { world.probeNow("db") }
    world.run(until: .milliseconds(1500))
    #expect(world.starts["db"] == [0, 1_000_000_000, 1_100_000_000])
    #expect(world.overlaps == 0)
  }

  @Test("a removed target's round ends late, and a new target in its place is not confused with it")
  func removeWhileRunning() {
    let world = VirtualSchedule()
    world.duration = { _ in 500_000_000 }
    world.add("old", interval: .seconds(10))
    world.run(until: .milliseconds(100))
    world.remove("old")
    world.add("new", interval: .seconds(10))
    world.run(until: .seconds(2))
    #expect(world.late == 1)
    #expect(world.reported == 1)
    #expect(world.state.count == 1)
  }

  @Test("a target that waits for its turn is crowded out and not skipped, and its turn comes")
  func crowding() throws {
    var settings = SchedulerSettings()
    settings.maximumInFlight = 1
    var state = SchedulerState(settings)
    let keys = [("slow", Duration.seconds(10)), ("quick", .milliseconds(200))].map {
      state.add(name: $0.0, interval: $0.1, timeout: $0.1, at: Instant(nanoseconds: 0))
    }
    var actions: [SchedulerState.Action] = []
    state.wake(at: Instant(nanoseconds: 0), into: &actions)
    var rounds = actions.compactMap { if case .start(let round) = $0 { round } else { nil } }
    #expect(rounds.count == 1)
    let first = try #require(rounds.first)
    let other = try #require(keys.first { $0 != first.key })
    for step in Int64(1)...8 { state.wake(at: Instant(nanoseconds: step * 150_000_000), into: &actions) }
    #expect(actions.contains(.crowdOut(other, rounds: 1)))
    #expect(!actions.contains { if case .skip(other, _) = $0 { true } else { false } })
    actions = []
    _ = state.finish(first.key, number: first.number, at: Instant(nanoseconds: 1_210_000_000), into: &actions)
    rounds = actions.compactMap { if case .start(let round) = $0 { round } else { nil } }
    #expect(rounds.map(\.key) == [other])
  }

  @Test("nothing to do needs no wake-up")
  func idle() {
    let world = VirtualSchedule()
    #expect(world.state.nextWake == nil)
    world.add("db", interval: .seconds(10))
    world.run(until: .seconds(1))
    world.remove("db")
    #expect(world.state.nextWake == nil)
  }

  @Test("times at the ends of the clock and absurd intervals are survived")
  func extremes() {
    var state = SchedulerState()
    var actions: [SchedulerState.Action] = []
    for moment in [Int64.min, -1, 0, .max - 1, .max] {
      let now = Instant(nanoseconds: moment)
      for interval in [Duration.zero, .seconds(-5), .nanoseconds(1), .seconds(Int64.max / 2)] {
        _ = state.add(name: "x\(moment)\(interval)", interval: interval, timeout: interval, at: now)
      }
      state.wake(at: now, into: &actions)
      state.restart(at: now)
    }
    #expect(state.count == 20)
  }
}
