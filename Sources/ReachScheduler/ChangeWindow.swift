public import ReachCore

/// When paths are looked at again after the kernel has told of changes: a plain value on virtual time.
///
/// The first change is answered at once. What follows it closely is merged into one more look, `settle` after the last
/// change of the burst, and every `cap` while the burst goes on (semantics, section 4.6). Looks that take long are
/// spaced out, so that they leave the loop three quarters of its time, as far as `cap` allows. Without any change a look is due
/// after `rest`, for what the kernel announces nowhere.
public struct ChangeWindow: Sendable {
  /// How changes are merged.
  public struct Settings: Hashable, Sendable {
    /// How long nothing must have changed before a burst counts as over.
    public var settle: Duration = .milliseconds(100)
    /// The longest that a change waits while the burst goes on.
    public var cap: Duration = .seconds(1)
    /// The longest time without a look.
    public var rest: Duration = .seconds(30)
    /// The settings of the agent.
    public init() {}
  }

  private let settings: Settings
  /// How long a look may be put off: `settle`, or more while looks take long.
  private var spacing: Int64
  /// Until then a change counts as part of the burst before it.
  private var quietAt = Int64.min
  /// When the first change came that no look has begun since; nil while there is none.
  private var pendingSince: Int64?
  private var lookedAt: Int64
  private var isLooking = false
  private var answersChange = false

  /// A window in which nothing has changed and paths have just been looked at.
  public init(_ settings: Settings = Settings(), at now: Instant) {
    self.settings = settings
    spacing = max(0, settings.settle.nanoseconds)
    lookedAt = now.nanoseconds
  }

  /// When the next look is due; nil while one is going on.
  public var due: Instant? {
    if isLooking { return nil }
    let rest = lookedAt.saturatingPlus(max(0, settings.rest.nanoseconds))
    guard let pendingSince else { return Instant(nanoseconds: rest) }
    return Instant(nanoseconds: min(quietAt, pendingSince.saturatingPlus(max(0, settings.cap.nanoseconds))))
  }

  /// Takes note of a change.
  public mutating func note(at now: Instant) {
    let isFirst = now.nanoseconds >= quietAt && pendingSince == nil
    pendingSince = pendingSince ?? now.nanoseconds
    // The first of a burst waits for nothing.
    quietAt = isFirst ? now.nanoseconds : now.nanoseconds.saturatingPlus(spacing)
  }

  /// Begins a look if one is due. Returns whether anything has changed since the one before; nil when none is due.
  public mutating func begin(at now: Instant) -> Bool? {
    guard let due, due <= now else { return nil }
    let hasChanged = pendingSince != nil
    pendingSince = nil
    isLooking = true
    answersChange = hasChanged
    lookedAt = now.nanoseconds
    if hasChanged { quietAt = now.nanoseconds.saturatingPlus(spacing) }
    return hasChanged
  }

  /// Takes note that the look has ended, and of how long it took.
  public mutating func end(at now: Instant) {
    isLooking = false
    let took = max(0, now.nanoseconds.saturatingMinus(lookedAt))
    spacing = max(0, settings.settle.nanoseconds, min(took.saturatingTimes(4), settings.cap.nanoseconds))
    if answersChange { quietAt = max(quietAt, lookedAt.saturatingPlus(spacing)) }
  }
}
