/// What the exposition shows of one source of discovered targets.
public struct SourceSeries: Hashable, Sendable {
  /// Its name, which no other has.
  public var source: String
  /// Its targets that are watched.
  public var targets: Int
  /// Attempts to have its list that failed.
  public var failures: UInt64
  /// When one last succeeded, in nanoseconds since 1970 UTC; nil, and not shown, before that.
  public var lastSuccess: Int64?

  /// A source.
  public init(source: String, targets: Int, failures: UInt64, lastSuccess: Int64?) {
    self.source = source
    self.targets = targets
    self.failures = failures
    self.lastSuccess = lastSuccess
  }
}
