internal import ReachCore
internal import ReachIO

extension Benchmark {
  static let eventLoop = Benchmark(
    name: "loop",
    summary: "a task on the loop: a turn through the queue, a suspension ended at once, a task begun and joined"
  ) {
    try compare(
      [
        Contender(name: "yield") { count in
          try onEventLoop { _ in for _ in 0..<count { await Task.yield() } }
        },
        Contender(name: "suspend and resume") { count in
          try onEventLoop { loop in
            for _ in 0..<count {
              _ = await loop.wait(until: .distantFuture) { wait in
                loop.schedule(at: loop.now()) { wait.finish(.deadline) }
              }
            }
          }
        },
        Contender(name: "spawn and join") { count in
          try onEventLoop { loop in for _ in 0..<count { await loop.spawn {}.value } }
        },
      ], count: 100_000, rounds: 3)
  }
}
