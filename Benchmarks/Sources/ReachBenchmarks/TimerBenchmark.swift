internal import ReachCore
internal import ReachIO

extension Benchmark {
  static let timers = Benchmark(
    name: "timers", summary: "setting a timer and taking it back, among so many that wait"
  ) {
    try compare(
      [10, 1_000, 100_000].map { waiting in
        Contender(name: "\(waiting) waiting") { count in try setAndTakeBack(count, among: waiting) }
      }, count: 100_000, rounds: 3)
  }
}

private func setAndTakeBack(_ count: Int, among waiting: Int) throws {
  let loop = try EventLoop()
  // A multiplicative generator: the system's own would cost more than what is measured.
  var random: UInt64 = 1
  let start = loop.now().advanced(by: .seconds(3600))
  func due() -> Instant {
    random = random &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return start.advanced(byNanoseconds: Int64((random >> 28) % 60_000_000_000))
  }
  for _ in 0..<waiting { loop.schedule(at: due()) {} }
  for _ in 0..<count { loop.cancel(loop.schedule(at: due()) {}) }
}
