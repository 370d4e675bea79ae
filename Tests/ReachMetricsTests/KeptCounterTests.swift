import ReachCore
import ReachMetrics
import Testing

/// Counters that are taken over into a new series show the same text.
@Suite struct KeptCounterTests {
  private static let later = ExpositionTests.start.advanced(by: .seconds(60))

  private static func lived(_ detail: MetricsDetail) -> TargetSeries {
    var series = ExpositionTests.series(detail: detail)
    let down = Verdict(flags: [], rule: .afnetworking, reason: .tcpTimeout, path: ExpositionTests.path)
    let change = StatusChange(sequence: 2, at: 5, from: .unknown, to: down, inPrevious: nil)
    series.record(.changed(change))
    series.record(.pathChanged(from: ReachabilityPath(), to: ExpositionTests.path))
    series.update(
      TargetState(verdict: down, since: 5, sequence: 2), at: ExpositionTests.start.advanced(by: .seconds(10)))
    series.record(ProbeRun(probe: "tcp", outcome: .failure(.tcpTimeout)))
    series.record(ProbeRun(probe: "tcp", outcome: .error(LocalFault(.probeError(FaultCode(errno: 24))))))
    series.record(ProbeRun(probe: "link", outcome: .success))
    series.recordSkipped(rounds: 3)
    series.setDamping(rawChanges: 9, isFlapping: false)
    return series
  }

  @Test(
    "a series that goes on from another's counters counts the same",
    arguments: [MetricsDetail.compact, .standard, .full])
  func goesOn(detail: MetricsDetail) throws {
    let old = Self.lived(detail)
    var new = ExpositionTests.series(detail: detail)
    new.restore(old.counters(at: Self.later)) { old.transitions(into: $0) }
    let (before, after) = (old.counters(at: Self.later), new.counters(at: ExpositionTests.start))
    for (left, right) in zip(before, after) {
      #expect(left.name == right.name)
      #expect(left.value == right.value, "\(left.name)")
    }
    #expect(before.count == after.count)
    for status in Status.allCases { #expect(new.transitions(into: status) == old.transitions(into: status)) }
    #expect(old.transitions(into: .notReachable) == 1)
  }

  @Test("what is not known is left out, and no value traps")
  func odd() {
    var series = ExpositionTests.series()
    let odd: [NamedCount] = [
      ("probe_runs.success.gone", 4), ("probe_runs.tcp", 1), ("probe_failures.nonsense.tcp", 1), ("probe_failures.", 1),
      ("status_nanoseconds.Nowhere", 7), ("", 1), ("path_changes", .max), ("status_nanoseconds.Unknown", .max),
      ("probe_runs.success.tcp", .max),
    ]
    series.restore(odd) { _ in .max }
    let counters = series.counters(at: Self.later).filter { $0.value > 0 }.map(\.name)
    #expect(counters.sorted() == ["path_changes", "probe_runs.success.tcp", "status_nanoseconds.Unknown"])
    #expect(series.transitions(into: .unknown) == UInt64(UInt32.max))
  }
}
