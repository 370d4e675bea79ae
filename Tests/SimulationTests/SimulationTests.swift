import Glibc
import Testing

/// The agent's policies on virtual time, against a kernel and a network that follow a script made from a seed.
///
/// `REACHD_SIMULATION_SEED=n` replays one simulation and tells all that happens in it; `REACHD_SIMULATION_SEEDS=n` runs
/// so many.
@Suite struct SimulationTests {
  private static let parts = 8
  private static let ordinary: UInt64 = 5_000

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
    for seed in stride(from: UInt64(part) + 1, through: count, by: Self.parts) {
      let violations = Simulation(seed: seed, on: stage).run()
      guard !violations.isEmpty else { continue }
      Issue.record(
        """
        seed \(seed): \(violations.joined(separator: "; "))
        replay it with REACHD_SIMULATION_SEED=\(seed) swift test --filter SimulationTests
        """)
      failures += 1
      if failures == 3 { return }
    }
  }

  private func replay(_ seed: UInt64, on stage: Stage) {
    let violations = Simulation(seed: seed, on: stage, trace: { print($0) }).run()
    #expect(violations.isEmpty)
  }
}
