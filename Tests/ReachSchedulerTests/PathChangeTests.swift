import ReachCore
import Testing

/// What a change of a path does to the schedule.
@Suite struct PathChangeTests {
  private func seconds(_ times: [Int64]?) -> [Double] { (times ?? []).map { Double($0) / 1e9 } }

  @Test("a round that began before the path changed is outdated, and rounds follow at growing distances")
  func outdated() {
    let world = VirtualSchedule()
    world.add("db", interval: .seconds(60), timeout: .seconds(5))
    world.run(until: .seconds(100))
    let before = world.starts["db"]?.count ?? 0
    world.duration = { _ in 400_000_000 }
    world.probeNow("db")
    world.run(until: .milliseconds(100_100))
    world.pathChanged("db")
    world.run(until: .milliseconds(100_500))
    #expect(world.outdated == 1)
    world.run(until: .seconds(140))
    let follow = seconds(world.starts["db"]).dropFirst(before + 1).map { $0 - 100.1 }
    let gaps = zip(follow, follow.dropFirst()).map { $1 - $0 }
    #expect((1.0..<2.0).contains(follow.first ?? 0))
    #expect(gaps.prefix(4).elementsEqual([2, 4, 8, 16]) { abs($0 - $1) < 0.01 })
    #expect(world.skips.isEmpty)
  }

  @Test("a thousand targets whose paths changed do not start as one")
  func spread() {
    let world = VirtualSchedule()
    let names = (0..<1000).map { "t\($0)" }
    for name in names { world.add(name, interval: .seconds(600), timeout: .seconds(5)) }
    world.run(until: .seconds(700))
    let before = world.starts.mapValues(\.count)
    for name in names { world.pathChanged(name) }
    world.run(until: .milliseconds(702_000))
    let fresh = names.compactMap { name in world.starts[name]?.dropFirst(before[name] ?? 0).first }
    let perSlot = Dictionary(grouping: fresh) { $0 / 10_000_000 }.mapValues(\.count)
    #expect(fresh.count >= 990)
    #expect((perSlot.values.max() ?? 0) <= 40)
  }

  @Test("a target with an interval of a second or less needs no rounds out of its place")
  func shortInterval() {
    let world = VirtualSchedule()
    world.add("db", interval: .seconds(1), timeout: .milliseconds(500))
    world.run(until: .seconds(10))
    let before = world.starts["db"]?.count ?? 0
    world.pathChanged("db")
    world.run(until: .seconds(20))
    #expect((world.starts["db"]?.count ?? 0) - before == 10)
  }

  @Test("paths that change all the time do not keep a target from being probed in its place")
  func churn() {
    let world = VirtualSchedule()
    world.add("db", interval: .seconds(10), timeout: .seconds(5))
    world.run(until: .seconds(10))
    let before = world.starts["db"]?.count ?? 0
    for step in 0..<100 {
      world.run(until: .milliseconds(10_000 + step * 500))
      world.pathChanged("db")
    }
    #expect((world.starts["db"]?.count ?? 0) - before >= 4)
  }

  @Test("a follow-up that falls due while a round runs is no skipped round")
  func overlap() {
    let world = VirtualSchedule()
    world.add("db", interval: .seconds(60), timeout: .seconds(5))
    world.run(until: .seconds(60))
    world.pathChanged("db")
    world.duration = { _ in 4_000_000_000 }
    world.run(until: .seconds(75))
    #expect(world.skips.isEmpty && world.overlaps == 0)
  }
}
