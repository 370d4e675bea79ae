internal import ReachCore

/// How rounds are spread, bounded and watched over.
public struct SchedulerSettings: Hashable, Sendable {
  /// Rounds that may run together, at least 1. More wait in order; a backend that was given up does not count.
  public var maximumInFlight = 1000
  /// First rounds that may start together.
  public var burst = 20
  /// The pace of first rounds beyond the burst. No target waits longer for its first round than one interval.
  public var firstRoundPace: Duration = .milliseconds(1)
  /// How long after a change on its path a target is probed again; each round after that waits twice as long as the one
  /// before, up to the interval.
  public var followUpDelay: Duration = .seconds(1)
  /// When paths are looked at again after changes.
  public var changes = ChangeWindow.Settings()
  /// Due times are rounded down to slots, so that targets share wake-ups. An interval has this many slots or more…
  public var slotsPerInterval = 20
  /// …but none is shorter than this, nor longer than an interval…
  public var shortestSlot: Duration = .milliseconds(10)
  /// …and none longer than this.
  public var longestSlot: Duration = .milliseconds(100)
  /// How long a backend may take past its deadline to hand in what it has, before it is given up.
  public var grace: Duration = .milliseconds(250)
  /// A result that comes later than this past its deadline says that this process was starved, not that the target
  /// was slow (semantics, section 4.5): it is dropped, and the target probed again.
  public var starvation: Duration = .seconds(1)

  /// The settings of the agent.
  public init() {}

  /// The slot for this interval: 1, 2 or 5 times a power of ten, so that slots of different intervals fall together.
  func slot(forInterval interval: Int64) -> Int64 {
    let longest = max(1, longestSlot.nanoseconds)
    let wanted = min(longest, max(shortestSlot.nanoseconds, interval / Int64(max(1, slotsPerInterval)), 1))
    var slot: Int64 = 1
    while slot <= wanted / 10 { slot *= 10 }
    if slot <= wanted / 5 { slot *= 5 } else if slot <= wanted / 2 { slot *= 2 }
    return min(slot, interval)
  }
}
