internal import ReachCore

/// When a burst of events is over: a while after the last of them, and at the latest a longer while after the first.
struct SettleWindow: Hashable, Sendable {
  /// How long nothing may happen for a burst to be over.
  let settle: Duration
  /// How long a burst that does not end is waited for.
  let cap: Duration

  private var first: Instant?
  private var last = Instant(nanoseconds: 0)

  init(settle: Duration, cap: Duration) {
    self.settle = settle
    self.cap = cap
  }

  /// When the burst is over, as far as is known; nil while there is none.
  var due: Instant? {
    first.map { min(last.advanced(by: settle), $0.advanced(by: cap)) }
  }

  /// Takes note of an event.
  mutating func note(at now: Instant) {
    if first == nil { first = now }
    last = now
  }

  /// Ends the burst.
  mutating func end() { first = nil }
}
