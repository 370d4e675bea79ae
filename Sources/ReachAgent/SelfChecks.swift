internal import ReachCore
internal import ReachLog

/// Decides when it is said that something about this host keeps it from doing its part: once for each kind of trouble,
/// with every target it concerns, and not again for an hour, however many rounds meet it.
///
/// A plain value: it is told of troubles and of the time, and hands out what is to be logged. It holds no more than
/// `capacity` troubles.
struct SelfChecks {
  /// Something that goes wrong here.
  struct Trouble: Hashable {
    /// What was being looked at, in a word that scripts can match: `permission`, `descriptors`, `resolver`, …
    var check: String
    /// Why, as reasons are spelled.
    var reason: Reason
    /// For people.
    var problem: String
    /// For people; empty when it is not known.
    var remedy: String
  }

  private struct Key: Hashable {
    let check: String
    let reason: Reason
    let remedy: String
  }

  private struct Entry {
    let trouble: Trouble
    var targets: Set<String> = []
    /// Targets beyond those that are named.
    var more = 0
    /// When it is to be said; nil while it rests.
    var due: Instant?
    var saidAt: Instant?
    var metAt: Instant
  }

  /// How long targets are gathered before a trouble is said.
  static let gathering = Duration.seconds(1)
  /// How long it is not said again.
  static let rest = Duration.seconds(3_600)
  /// A trouble that has not been met for so long is over: its return is news.
  static let forgetting = Duration.seconds(600)
  /// How many targets are named.
  static let mostNames = 20
  /// How many troubles are held.
  static let capacity = 64

  private var entries: [Key: Entry] = [:]

  /// When `take` is to be called next; nil while nothing is to be said.
  private(set) var due: Instant?

  /// Takes note that a target met the trouble.
  mutating func note(_ trouble: Trouble, target: String, at now: Instant) {
    let key = Key(check: trouble.check, reason: trouble.reason, remedy: trouble.remedy)
    if entries[key] == nil {
      if entries.count >= Self.capacity { forget(at: now) }
      guard entries.count < Self.capacity else { return }
      entries[key] = Entry(trouble: trouble, metAt: now)
    }
    guard var entry = entries[key] else { return }
    if now.since(entry.metAt) > Self.forgetting { entry.saidAt = nil }
    entry.metAt = now
    let isResting = entry.saidAt.map { now < $0.advanced(by: Self.rest) } ?? false
    if !isResting {
      if !entry.targets.contains(target) {
        if entry.targets.count < Self.mostNames { entry.targets.insert(target) } else { entry.more += 1 }
      }
      if entry.due == nil { entry.due = now.advanced(by: Self.gathering) }
      due = min(due ?? .distantFuture, entry.due ?? .distantFuture)
    }
    entries[key] = entry
  }

  /// What is to be said now, in the order of its words.
  mutating func take(at now: Instant) -> [LogEvent] {
    var events: [LogEvent] = []
    due = nil
    for (key, entry) in entries {
      guard let isDue = entry.due else { continue }
      guard isDue <= now else {
        due = min(due ?? .distantFuture, isDue)
        continue
      }
      events.append(Self.event(entry))
      entries[key]?.due = nil
      entries[key]?.saidAt = now
      entries[key]?.targets = []
      entries[key]?.more = 0
    }
    return events.sorted { $0.message < $1.message }
  }

  private mutating func forget(at now: Instant) {
    entries = entries.filter { $0.value.due != nil || now.since($0.value.metAt) <= Self.forgetting }
  }

  private static func event(_ entry: Entry) -> LogEvent {
    let names = entry.targets.sorted()
    var problem = entry.trouble.problem
    if !names.isEmpty {
      problem += "; this concerns " + (names.count == 1 ? "the target " : "the targets ")
      problem += names.joined(separator: ", ") + (entry.more > 0 ? " and others" : "")
    }
    return .selfCheck(check: entry.trouble.check, problem: problem, remedy: entry.trouble.remedy)
  }
}

extension SelfChecks.Trouble {
  /// The line that says it at once, of no target.
  var event: LogEvent { .selfCheck(check: check, problem: problem, remedy: remedy) }
}
