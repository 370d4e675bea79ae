internal import ReachCore

/// The last good answer to each question, with the time it holds for. A plain value: the time is handed in.
struct AnswerCache: Sendable {
  /// What is asked, as far as it makes a difference to the answer. Families and named servers belong to the backend.
  struct Key: Hashable, Sendable {
    let name: String
    let usesSearchList: Bool
    let source: SourceBinding
  }

  /// A good answer.
  struct Entry: Hashable, Sendable {
    /// The addresses, and the result of each family that was asked.
    var addresses: [IPAddress]
    var ipv4: DNSFinding.Result?
    var ipv6: DNSFinding.Result?
    var ttl: Duration
    var storedAt: Instant
    /// Which state of the system's resolver configuration it was got under.
    var generation: Int
    /// Whether a family is missing from it because it did not answer: then it is kept as short as the policy allows.
    var isPartial: Bool
  }

  /// How long after its time an answer may stand in for a resolver that fails (RFC 8767 section 5 has one to three days).
  static let longestStale = Duration.seconds(86_400)

  private var entries: [Key: Entry] = [:]
  private let capacity: Int

  /// A cache that holds at most `capacity` answers.
  init(capacity: Int) { self.capacity = max(1, capacity) }

  /// How many answers are held.
  var count: Int { entries.count }

  /// The answer to use in place of asking; nil when one must ask.
  func fresh(_ key: Key, at now: Instant, generation: Int, policy: TargetPolicy) -> Entry? {
    guard let entry = entries[key], entry.generation == generation else { return nil }
    let time = entry.isPartial ? policy.resolveMin : min(max(entry.ttl, policy.resolveMin), policy.resolveMax)
    return now < entry.storedAt.advanced(by: time) ? entry : nil
  }

  /// The answer to stand in while the resolver fails; nil when there is none, or none young enough.
  func stale(_ key: Key, at now: Instant) -> Entry? {
    guard let entry = entries[key] else { return nil }
    return now < entry.storedAt.advanced(by: entry.ttl).advanced(by: Self.longestStale) ? entry : nil
  }

  /// Keeps the answer; a full cache lets go of its oldest eighth for it.
  mutating func store(_ entry: Entry, for key: Key) {
    if entries.count >= capacity, entries[key] == nil { evict() }
    entries[key] = entry
  }

  /// Forgets the answer: the name has turned out not to exist, or to have no addresses.
  mutating func remove(_ key: Key) { entries[key] = nil }

  private mutating func evict() {
    let oldest = entries.sorted { $0.value.storedAt < $1.value.storedAt }.prefix(max(1, capacity / 8))
    for (key, _) in oldest { entries[key] = nil }
  }
}
