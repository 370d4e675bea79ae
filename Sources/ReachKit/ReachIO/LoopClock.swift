internal import Glibc
public import ReachCore
internal import Synchronization

/// Where an event loop reads the time.
public protocol LoopClock: AnyObject, Sendable {
  /// The time now. Never goes backwards.
  func now() -> Instant
}

/// CLOCK_MONOTONIC (clock_gettime(2)): unmoved by changes of the wall clock, stops during suspend.
public final class SystemClock: LoopClock {
  /// A clock; all of them tell the same time.
  public init() {}

  /// The time now, about 20 ns a call.
  public func now() -> Instant {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return Instant(nanoseconds: Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec))
  }
}

/// A clock that stands still until it is told to move, for tests and simulations.
public final class ManualClock: LoopClock {
  private let time: Mutex<Instant>

  /// A clock that begins at `start`.
  public init(start: Instant = Instant(nanoseconds: 1_000_000_000)) { time = Mutex(start) }

  /// The time it was last set to.
  public func now() -> Instant { time.withLock { $0 } }

  /// Moves the clock on; a negative duration is taken as none.
  public func advance(by duration: Duration) {
    time.withLock { $0 = $0.advanced(byNanoseconds: max(0, duration.nanoseconds)) }
  }
}

/// The wall clock, for what people read; never for an interval.
public enum WallClock {
  /// Nanoseconds since 1970-01-01 00:00 UTC (CLOCK_REALTIME).
  public static func nanosecondsSinceEpoch() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
