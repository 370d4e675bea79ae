import ReachCore
import ReachScheduler
import Testing

/// Thousands of targets with rounds of random length, from a fixed seed.
@Suite struct ScheduleSimulationTests {
  @Test(
    "whatever rounds take: none overlap, the bound holds, all come round, and each keeps its places",
    arguments: [1, 2, 3] as [UInt64])
  func simulation(seed: UInt64) {
    var random = SplitMix(state: seed)
    let world = VirtualSchedule(maximumInFlight: 200, grace: .seconds(30))
    let intervals: [Int64] = [500, 1000, 1234, 2000, 5000]
    var intervalOf: [String: Int64] = [:]
    for index in 0..<2000 {
      let interval = intervals[Int(random.next() % UInt64(intervals.count))]
      let name = "target \(index)"
      intervalOf[name] = interval * 1_000_000
      world.add(name, interval: .milliseconds(interval), timeout: .milliseconds(interval))
    }
    world.duration = { _ in
      let roll = random.next()
      return Int64(roll >> 8 & 0xffff) * (roll % 50 == 0 ? 20_000 : 600)
    }
    world.run(until: .seconds(30))
    #expect(world.overlaps == 0)
    #expect(world.mostInFlight <= 200)
    #expect(world.starts.count == 2000)
    #expect(world.givenUp.isEmpty)
    for (name, starts) in world.starts {
      let interval = intervalOf[name] ?? 1
      let rounds = starts.count + (world.skips[name] ?? 0)
      let due = Int(30_000_000_000 / interval)
      #expect((due - 2...due + 2).contains(rounds), "\(name): every place is a round or a skipped one")
      #expect(zip(starts, starts.dropFirst()).allSatisfy { $0 < $1 })
    }
  }

  @Test("with more work than room every target still gets its share, and nothing piles up")
  func fairness() {
    var random = SplitMix(state: 7)
    let world = VirtualSchedule(maximumInFlight: 50, grace: .seconds(30))
    for index in 0..<1000 { world.add("target \(index)", interval: .seconds(1)) }
    world.duration = { _ in 100_000_000 + Int64(random.next() % 100_000_000) }
    world.run(until: .seconds(40))
    // Room for 50 rounds of 150 ms is room for about 333 a second: a third of what is asked for.
    let shares = world.starts.values.map(\.count)
    #expect(shares.count == 1000)
    #expect((shares.min() ?? 0) * 2 >= (shares.max() ?? 0))
    #expect((shares.min() ?? 0) >= 8)
    #expect(world.state.waiting <= 1000)
    #expect(world.lags.allSatisfy { $0 <= 4_000_000_000 })
  }

  @Test("targets that come and go at random leave the schedule whole")
  func churn() {
    var random = SplitMix(state: 11)
    let world = VirtualSchedule(maximumInFlight: 30, grace: .milliseconds(100))
    world.duration = { _ in Int64(random.next() % 900_000_000) }
    var present: Set<String> = []
    for step in 0..<3000 {
      let name = "target \(random.next() % 200)"
      switch random.next() % 6 {
      case 0, 1:
        let interval: Duration = random.next() % 2 == 0 ? .milliseconds(500) : .seconds(3)
        if present.insert(name).inserted { world.add(name, interval: interval) }
      case 2:
        if present.remove(name) != nil { world.remove(name) }
      case 3: world.pathChanged(name)
      case 4: world.nameChanged(name)
      default: world.probeNow(name)
      }
      world.run(until: .milliseconds(10 * (step + 1)))
    }
    #expect(world.state.count == present.count)
    #expect(world.mostInFlight <= 30)
    #expect(world.overlaps == 0)
    for name in present.sorted() { world.remove(name) }
    world.run(until: .seconds(60))
    #expect(world.state.nextWake == nil)
    #expect(world.state.inFlight == 0)
    #expect(world.state.givenUp == 0)
  }
}

/// A small seeded generator, so that a failure can be seen again.
struct SplitMix {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var value = state
    value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
    value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
    return value ^ value >> 31
  }
}
