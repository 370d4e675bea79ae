public import ReachCore
internal import ReachIO

/// How far the looks at paths have come: when the next is due, what it is to see first, and the one that goes on.
struct PathLooking {
  /// When to look.
  private(set) var window: ChangeWindow
  /// When the first change was heard of that the look answers; nil for one that no change led to.
  private(set) var changedAt: Instant?
  /// What looks; replaced when a backend keeps it for too long.
  var task: Task<Void, Never>?

  private let rest: Duration
  private var isOn = false
  /// The targets of the look that goes on, in order, and the next of them.
  private var order: [SchedulerState.Key] = []
  private var position = 0
  /// Tells one task from the one that replaced it.
  private var number: UInt32 = 0
  /// When the look came to the target that it is at.
  private var movedAt = Instant.distantFuture
  /// Changes that no look has begun since, and the links that they were about more than once.
  private var pending: PathChange?
  private var pendingFlaps: Set<Int32> = []
  /// The links that changed more than once between the look before and the one that goes on.
  private var flaps: Set<Int32> = []

  /// How long one target's look may take before the rest goes on without it. Route and link probes ask nobody but the
  /// kernel, so that this is for a backend with a fault.
  private static let patience = Duration.seconds(1)
  private static let mostLinks = 256

  init(_ settings: ChangeWindow.Settings, at now: Instant) {
    window = ChangeWindow(settings, at: now)
    rest = settings.rest
  }

  /// When to come back: to begin a look, or to see whether one is stuck.
  var due: Instant? { isOn ? movedAt.advanced(by: Self.patience) : window.due }

  /// Takes note of a change.
  mutating func note(_ change: PathChange, at now: Instant) {
    window.note(at: now)
    if change.hasFlaps { pendingFlaps.formUnion(change.links.prefix(Self.mostLinks)) }
    guard var known = pending else { return pending = change }
    for link in change.links.prefix(Self.mostLinks) {
      if known.links.contains(link) {
        pendingFlaps.insert(link)
      } else if known.links.count < Self.mostLinks {
        known.links.append(link)
      }
    }
    pending = known
  }

  /// Whether that link changed more than once since the look before.
  func hasFlapped(_ link: Int32) -> Bool { flaps.contains(link) }

  /// Begins a look if one is due, or goes on with one that is stuck. Returns the number for the task to go by; nil when
  /// there is nothing to do.
  mutating func begin(over slots: [SchedulerCore.Slot?], at now: Instant) -> UInt32? {
    if isOn {
      guard movedAt.advanced(by: Self.patience) <= now else { return nil }
      task?.cancel()
    } else {
      guard window.begin(at: now) != nil else { return nil }
      isOn = true
      changedAt = pending?.receivedAt
      order = targets(of: slots, behind: Set(pending?.links ?? []), at: now)
      position = 0
      pending = nil
      flaps = pendingFlaps
      pendingFlaps = []
    }
    movedAt = now
    number &+= 1
    return number
  }

  /// The next target for the task of that number; nil when there is none, or another task has taken over.
  mutating func next(for number: UInt32, at now: Instant) -> SchedulerState.Key? {
    guard isOn, number == self.number, position < order.count else { return nil }
    defer { position += 1 }
    movedAt = now
    return order[position]
  }

  /// Whether the task of that number is the one that looks.
  func isCurrent(_ number: UInt32) -> Bool { isOn && number == self.number }

  /// Ends the look, if the task of that number is the one that looks. Returns whether it was.
  mutating func end(_ number: UInt32, at now: Instant) -> Bool {
    guard isCurrent(number) else { return false }
    isOn = false
    task = nil
    order = []
    window.end(at: now)
    return true
  }

  /// The targets in the order in which they are looked at: those behind the links that changed come first. Without a
  /// change, those that were looked at within `rest` are passed over.
  private func targets(
    of slots: [SchedulerCore.Slot?], behind links: Set<Int32>, at now: Instant
  ) -> [SchedulerState.Key] {
    var first: [SchedulerState.Key] = []
    var others: [SchedulerState.Key] = []
    for case .some(let slot) in slots {
      guard let kept = slot.kept, slot.runner.looksAtPath else { continue }
      if changedAt == nil, now.since(kept.seenAt) < rest { continue }
      if links.contains(kept.path.egress) { first.append(slot.key) } else { others.append(slot.key) }
    }
    return first + others
  }
}

/// What the kernel tells of paths: something changed that a routing decision or a link's state may depend on.
public struct PathChange: Hashable, Sendable {
  /// The interfaces it is about, by index; empty when that is not known.
  public var links: [Int32]
  /// When it was heard of.
  public var receivedAt: Instant
  /// Whether any of the links came and went within the change.
  public var hasFlaps: Bool

  /// A change.
  public init(links: [Int32] = [], receivedAt: Instant, hasFlaps: Bool = false) {
    self.links = links
    self.hasFlaps = hasFlaps
    self.receivedAt = receivedAt
  }
}
