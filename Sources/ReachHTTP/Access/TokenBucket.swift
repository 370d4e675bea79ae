internal import ReachCore

/// So many at once, and one more in each interval. A plain value, without a clock.
struct TokenBucket {
  /// The time in which there is one more; above zero.
  var interval: Duration {
    get { .nanoseconds(nanoseconds) }
    set { nanoseconds = max(1, newValue.nanoseconds) }
  }
  private var nanoseconds: Int64
  private let burst: Int64
  /// When the bucket would be full again; in the past when it is.
  private var fullAt = TokenBucket.past

  private static let past = Instant(nanoseconds: .min)

  /// A full bucket. The interval is above zero, the burst at least 1.
  init(interval: Duration, burst: Int) {
    nanoseconds = max(1, interval.nanoseconds)
    self.burst = Int64(max(1, burst))
  }

  /// Takes a token, if there is one.
  mutating func take(at now: Instant) -> Bool {
    guard nextToken <= now else { return false }
    fullAt = max(fullAt, now).advanced(byNanoseconds: nanoseconds)
    return true
  }

  /// When there is a token; in the past when there is one.
  var nextToken: Instant {
    let (lead, overflow) = nanoseconds.multipliedReportingOverflow(by: burst - 1)
    return overflow ? Self.past : fullAt.advanced(byNanoseconds: -lead)
  }
}
