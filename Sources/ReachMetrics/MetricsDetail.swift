/// How much is shown of each target.
public enum MetricsDetail: String, Hashable, Sendable, CaseIterable {
  /// At most 12 series a target: status, flags, reason, transitions, success of the probes that use the network.
  case compact
  /// All families; durations of the probes that use the network.
  case standard
  /// All families; durations of every probe, in finer buckets.
  case full
}
