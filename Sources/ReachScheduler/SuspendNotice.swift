internal import Glibc

/// Notices that this host was suspended: CLOCK_BOOTTIME counts that time and CLOCK_MONOTONIC does not
/// (clock_gettime(2)).
struct SuspendNotice {
  /// How far the two clocks may drift apart between two looks without a suspend: a look is not atomic.
  private static let tolerance: Int64 = 500_000_000
  private var ahead = Self.bootAheadOfMonotonic()

  /// Whether there was a suspend since the last look.
  mutating func hasHappened() -> Bool {
    let now = Self.bootAheadOfMonotonic()
    defer { ahead = now }
    return now &- ahead > Self.tolerance
  }

  private static func bootAheadOfMonotonic() -> Int64 {
    nanoseconds(CLOCK_BOOTTIME) &- nanoseconds(CLOCK_MONOTONIC)
  }

  private static func nanoseconds(_ clock: clockid_t) -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(clock, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
