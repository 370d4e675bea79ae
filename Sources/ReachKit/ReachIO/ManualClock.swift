public import ReachCore
internal import Synchronization

/// A clock that stands still until it is told to move, for tests and simulations.
///
/// A loop on this clock never sleeps towards a timer: it waits for descriptors, jobs and the clock's own moves. So a
/// test on virtual time takes no real time, and nothing fires before the test says so.
public final class ManualClock: LoopClock {
  private struct State {
    var time: Instant
    var wakes: [@Sendable () -> Void] = []
  }

  private let state: Mutex<State>

  /// A clock that begins at `start`.
  public init(start: Instant = Instant(nanoseconds: 1_000_000_000)) { state = Mutex(State(time: start)) }

  /// The time it was last set to.
  public func now() -> Instant { state.withLock { $0.time } }

  /// 0 for a time that has come, no limit for any other.
  public func sleepLimit(until due: Instant) -> Int64 { due <= now() ? 0 : -1 }

  /// Has `wake` called after every move, by whoever moves the clock.
  public func onMove(_ wake: @escaping @Sendable () -> Void) { state.withLock { $0.wakes.append(wake) } }

  /// Moves the clock on in one leap and wakes the loops that follow it; a negative duration is taken as none. Callable
  /// from anywhere. Every timer passed over is then due at once, in order, but sees the time after the leap.
  public func advance(by duration: Duration) {
    move { $0.advanced(byNanoseconds: max(0, duration.nanoseconds)) }
  }

  /// Moves the clock on from timer to timer, letting the loop settle at each, as real time would: a timer that sets
  /// itself again fires as often as its turn comes. Call it from a task on `loop`; a negative duration is taken as none.
  public func advance(by duration: Duration, on loop: EventLoop) async {
    let end = now().advanced(byNanoseconds: max(0, duration.nanoseconds))
    await loop.settle()
    while let due = loop.nextTimer, due <= end {
      move { max($0, due) }
      await loop.settle()
    }
    move { max($0, end) }
    await loop.settle()
  }

  private func move(_ change: (Instant) -> Instant) {
    let wakes = state.withLock { state in
      state.time = change(state.time)
      return state.wakes
    }
    for wake in wakes { wake() }
  }
}
