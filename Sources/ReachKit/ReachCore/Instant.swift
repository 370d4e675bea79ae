/// A point on the monotonic clock (CLOCK_MONOTONIC, clock_gettime(2)), in nanoseconds since an arbitrary start.
///
/// Arithmetic saturates at the ends of the range, so no duration that comes from outside can trap.
public struct Instant: Hashable, Comparable, Sendable {
  /// Nanoseconds since the clock's own start.
  public let nanoseconds: Int64

  /// A point that many nanoseconds after the clock's start.
  public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  /// Later than any point that is reached.
  public static let distantFuture = Instant(nanoseconds: .max)

  /// Whether `left` comes before `right`.
  public static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The point that many nanoseconds later (earlier when negative), saturating.
  public func advanced(byNanoseconds delta: Int64) -> Instant {
    let (sum, overflow) = nanoseconds.addingReportingOverflow(delta)
    return Instant(nanoseconds: overflow ? (delta < 0 ? .min : .max) : sum)
  }

  /// The point that much later (earlier when negative), saturating.
  public func advanced(by duration: Duration) -> Instant { advanced(byNanoseconds: duration.nanoseconds) }

  /// Nanoseconds from `earlier` to this point, negative when it is later, saturating.
  public func nanoseconds(since earlier: Instant) -> Int64 {
    let (difference, overflow) = nanoseconds.subtractingReportingOverflow(earlier.nanoseconds)
    return overflow ? (earlier.nanoseconds < 0 ? .max : .min) : difference
  }

  /// The time from `earlier` to this point, negative when it is later, saturating.
  public func since(_ earlier: Instant) -> Duration { .nanoseconds(nanoseconds(since: earlier)) }
}

extension Duration {
  /// The whole duration in nanoseconds, rounded towards zero, saturating at the range of `Int64`.
  public var nanoseconds: Int64 {
    let (seconds, attoseconds) = components
    let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    let (sum, carried) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
    return overflow || carried ? (seconds < 0 ? .min : .max) : sum
  }

  /// The whole duration in seconds, as Prometheus wants it.
  public var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
