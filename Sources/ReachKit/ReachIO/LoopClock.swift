internal import Glibc
public import ReachCore
internal import Synchronization

/// Where an event loop reads the time.
public protocol LoopClock: AnyObject, Sendable {
  /// The time now. Never goes backwards.
  func now() -> Instant
  /// How many nanoseconds a loop may sleep before it looks whether `due` has come: 0 when it has, negative for "until
  /// you are woken", which is the answer of a clock that real time does not move.
  func sleepLimit(until due: Instant) -> Int64
  /// Asks to have `wake` called, on any thread, whenever the clock has been moved otherwise than by the passing of time.
  func onMove(_ wake: @escaping @Sendable () -> Void)
}

extension LoopClock {
  /// The time left until `due`, for a clock that real time moves.
  public func sleepLimit(until due: Instant) -> Int64 { max(0, due.nanoseconds(since: now())) }
  /// Nothing to ask of a clock that nobody moves.
  public func onMove(_ wake: @escaping @Sendable () -> Void) {}
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

/// The wall clock, for what people read; never for an interval.
public enum WallClock {
  /// Nanoseconds since 1970-01-01 00:00 UTC (CLOCK_REALTIME).
  public static func nanosecondsSinceEpoch() -> Int64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
  }
}
