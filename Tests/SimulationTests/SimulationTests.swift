import Glibc
import ReachCore
import Testing

/// The agent's policies on virtual time, against a kernel and a network that follow a script made from a seed.
///
/// `REACHD_SIMULATION_SEED=n` replays one simulation and tells all that happens in it; `REACHD_SIMULATION_SEEDS=n` runs
/// so many.
@Suite struct SimulationTests {
  private static let parts = 8
  private static let ordinary: UInt64 = 10_000

  private static func number(_ name: String) -> UInt64? {
    guard let value = unsafe getenv(name) else { return nil }
    return UInt64(unsafe String(cString: value))
  }

  @Test(
    "Whatever happens, nothing is invented, nothing is missed, and all is well once everything is mended",
    arguments: 0..<parts)
  func holds(_ part: Int) throws {
    let stage = try Stage()
    if let seed = Self.number("REACHD_SIMULATION_SEED") {
      guard part == 0 else { return }
      return replay(seed, on: stage)
    }
    let count = Self.number("REACHD_SIMULATION_SEEDS") ?? Self.ordinary
    var failures = 0
    var tally = Auditor.Tally()
    for seed in stride(from: UInt64(part) + 1, through: count, by: Self.parts) {
      let simulation = Simulation(seed: seed, on: stage)
      let violations = simulation.run()
      tally += simulation.auditor.tally
      guard !violations.isEmpty else { continue }
      Issue.record(
        """
        seed \(seed): \(violations.joined(separator: "; "))
        replay it with REACHD_SIMULATION_SEED=\(seed) swift test --filter '^SimulationTests'
        """)
      failures += 1
      if failures == 3 { return }
    }
    // A simulation in which nothing happens shows nothing.
    let simulations = Int(count) / Self.parts
    #expect(tally.rounds > 5 * simulations && tally.looks > simulations && tally.transitions > simulations / 2)
  }

  @Test("The same seed comes to the same log")
  func isDeterministic() throws {
    let (stage, other) = (try Stage(), try Stage())
    for seed in 1...200 as ClosedRange<UInt64> {
      let simulations = [Simulation(seed: seed, on: stage), Simulation(seed: seed, on: other)]
      for simulation in simulations { _ = simulation.run() }
      if simulations[0].auditor.digests != simulations[1].auditor.digests {
        Issue.record("seed \(seed) comes to different logs")
      }
      // The second stage is at another time than the first.
      _ = Simulation(seed: 1_000_000 + seed, on: other).run()
    }
  }

  @Test("The order of the targets makes no difference to what is said of a target whose path alone is looked at")
  func orderDoesNotMatter() throws {
    let stage = try Stage()
    var compared = 0
    for seed in 1...400 as ClosedRange<UInt64> {
      var variation = Simulation.Variation(only: [.links, .routes, .interfaces], isPrompt: true)
      let simulation = Simulation(seed: seed, on: stage, variation)
      variation.isReversed = true
      let reversed = Simulation(seed: seed, on: stage, variation)
      _ = (simulation.run(), reversed.run())
      let digests = zip(simulation.auditor.books, simulation.auditor.digests)
      for ((book, digest), other) in zip(digests, reversed.auditor.digests.reversed()) where book.isPathOnly {
        compared += 1
        if digest != other { Issue.record("seed \(seed): \(book.target.name) comes to different logs") }
      }
    }
    #expect(compared > 100)
  }

  private func replay(_ seed: UInt64, on stage: Stage) {
    let violations = Simulation(seed: seed, on: stage, trace: { print($0) }).run()
    #expect(violations.isEmpty)
  }
}

extension Auditor.Book {
  /// Whether neither names nor connections are part of the matter.
  fileprivate var isPathOnly: Bool {
    if case .host = target.kind { return false }
    return target.port == nil
  }
}
