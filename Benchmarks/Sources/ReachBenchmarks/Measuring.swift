internal import Glibc
internal import ReachIO

/// A way of doing something.
struct Contender {
  let name: String
  /// Does the work so many times.
  let run: (_ count: Int) throws -> Void
}

/// Runs the contenders in turn, round after round, so that what disturbs the machine disturbs all of them, and prints the
/// median CPU time (user and system, of this process) of one unit of work, and its ratio to the first contender's.
func compare(_ contenders: [Contender], count: Int, rounds: Int = 7) throws {
  var samples = [[Double]](repeating: [], count: contenders.count)
  for round in 0...rounds {
    for (index, contender) in contenders.enumerated() {
      let start = processorSeconds()
      try contender.run(count)
      // The first round warms up.
      if round > 0 { samples[index].append((processorSeconds() - start) * 1e6 / Double(count)) }
    }
  }
  let medians = samples.map(median)
  let width = contenders.map(\.name.count).max() ?? 0
  for (index, contender) in contenders.enumerated() {
    let name = contender.name + String(repeating: " ", count: width - contender.name.count)
    let spread = "\(fixed(samples[index].min() ?? 0)) to \(fixed(samples[index].max() ?? 0))"
    print("  \(name)  \(fixed(medians[index])) µs (\(spread))  \(fixed(medians[index] / medians[0])) x")
  }
}

/// Runs `body` on an event loop on this thread, to its end.
func onEventLoop(_ body: @escaping @Sendable (EventLoop) async throws -> Void) throws {
  let loop = try EventLoop()
  let failure = LoopConfined<(any Error)?>(nil, on: loop)
  loop.spawn {
    do { try await body(loop) } catch { failure.withState { $0 = error } }
    loop.stop()
  }
  loop.run()
  if let error = failure.withState({ $0 }) { throw error }
}

private func processorSeconds() -> Double {
  var usage = rusage()
  _ = unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
  func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
  return seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

private func median(_ values: [Double]) -> Double {
  let sorted = values.sorted()
  return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
}

/// Two digits behind the point.
func fixed(_ value: Double) -> String {
  let hundredths = Int((value * 100).rounded())
  let fraction = hundredths % 100
  return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction)"
}
