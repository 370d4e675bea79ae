/// Something that discovery has to say.
public enum DiscoveryEvent: Hashable, Sendable {
  /// Something of a list is left out or cut. `entry` is its place in the list, from 1; nil for all of it.
  case ignored(source: String, origin: String, entry: Int?, problem: String)
  /// A list cannot be had; of what it had last, so many targets are kept.
  case failed(source: String, origin: String, problem: String, kept: Int)
  /// The source has other targets than before, or is back after a failure: so many that are watched.
  case discovered(source: String, targets: Int)
}

/// What is counted of one source.
public struct DiscoverySample: Hashable, Sendable {
  /// The source's name.
  public var source: String
  /// Its targets that are watched.
  public var targets: Int
  /// Attempts to have its list that failed.
  public var failures: UInt64
  /// When one last succeeded, in nanoseconds since 1970 UTC; nil before that.
  public var lastSuccess: Int64?
}
