internal import ReachCore

/// What a probe comes to, with the metrics that every probe has.
public struct ProbeReport: Sendable {
  /// How it ended.
  public let outcome: ModuleProbe.Outcome
  /// The metrics.
  public let metrics: ProbeMetrics

  /// Fills in what is known when a probe has ended, and notes it.
  public init(
    _ outcome: ModuleProbe.Outcome, _ metrics: ProbeMetrics, took duration: Duration, of timeout: Duration,
    log: ProbeLogbook
  ) {
    var metrics = metrics
    metrics.set(.success, outcome == .success ? 1 : 0)
    metrics.set(.duration, duration.inSeconds)
    metrics.set(.timeout, timeout.inSeconds)
    if outcome == .success {
      log.note(.info, "Probe succeeded", ["duration_seconds": "\(duration.inSeconds)"])
    } else {
      log.note(.error, "Probe failed", ["duration_seconds": "\(duration.inSeconds)"])
    }
    self.outcome = outcome
    self.metrics = metrics
  }
}
