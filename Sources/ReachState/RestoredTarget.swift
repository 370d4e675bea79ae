public import ReachCore

/// What is known of a target from the agent's last run.
public struct RestoredTarget: Hashable, Sendable {
  /// How many statuses it has had: the next one's number is one more.
  public var sequence: UInt64
  /// The state it was left in, held without evidence (`isStale`). Nil when that says nothing about it now: its
  /// definition has changed, it was last watched over `RestoredTarget.oldest` ago, or it cannot be understood.
  public var state: TargetState?
  /// Its transitions so far. None when its definition has changed, or when the machine went down with the agent, since
  /// the last commits may be lost then.
  public var totals: TransitionTotals
  /// The other counters; none unless the last run ended cleanly.
  public var counters: [KeptCounter]

  /// How old a state may be to be published again: one day. What happened in a longer time is anybody's guess.
  public static let oldest = Duration.seconds(86_400)

  /// A restored target.
  public init(
    sequence: UInt64, state: TargetState?, totals: TransitionTotals = TransitionTotals(), counters: [KeptCounter] = []
  ) {
    self.sequence = sequence
    self.state = state
    self.totals = totals
    self.counters = counters
  }
}

extension RestoredTarget {
  /// What holds of a target that is watched already once it is defined anew, as if it were restored: everything when it
  /// asks the same as before, else only the number of its last status.
  public init(_ record: TargetRecord, as target: Target) {
    let isSame = TargetDefinition.text(of: record.target) == TargetDefinition.text(of: target)
    self.init(
      sequence: record.state.sequence, state: isSame ? record.state : nil,
      totals: isSame ? record.totals : TransitionTotals(), counters: isSame ? record.counters : [])
  }
}

/// A target's row as it was read: nothing of it is believed yet.
struct StoredTarget: Hashable, Sendable {
  var name: String
  var definition: String
  var sequence: Int64
  var status: String
  var flags: Int64?
  var reason: String
  var interface: String
  var medium: String
  var gateway: String
  var source: String
  var address: String
  var since: Int64?
  var totals: TransitionTotals
  var counters: String
  /// The run of the agent that watched it last.
  var lastRun: StoredRun
}

/// A run of the agent.
struct StoredRun: Hashable, Sendable {
  /// Tells the runs of one database apart.
  var id: Int64 = 0
  /// Which start of the machine it belongs to.
  var boot: String
  /// When it was last known to be alive, in nanoseconds since 1970 UTC.
  var seenAt: Int64
  /// Whether it ended cleanly.
  var isEnded: Bool
}

extension StoredTarget {
  /// What of the row holds for the target as it is configured now. `now` is the wall clock, `boot` this start of the
  /// machine, `run` the run that goes on, if the target is not watched from its start: when the target was given up within
  /// this same run, nobody knows how long ago.
  func restored(as target: Target, at now: Int64, boot: String, in run: Int64? = nil) -> RestoredTarget {
    let sequence = UInt64(max(0, sequence))
    guard definition == TargetDefinition.text(of: target) else { return RestoredTarget(sequence: sequence, state: nil) }
    // A wall clock that was set back makes the run seem to lie ahead: it ended just now, then.
    let (age, overflow) = now.subtractingReportingOverflow(lastRun.seenAt)
    let isRecent = !overflow && lastRun.id != run && age <= RestoredTarget.oldest.nanoseconds
    let isExact = lastRun.isEnded || lastRun.boot == boot
    return RestoredTarget(
      sequence: sequence, state: isRecent ? state(under: target.policy.statusRule, at: now) : nil,
      totals: isExact ? totals : TransitionTotals(), counters: lastRun.isEnded ? KeptCounter.list(counters) : [])
  }

  /// The state; nil when the row contradicts itself.
  private func state(under rule: StatusRule, at now: Int64) -> TargetState? {
    guard let reason = Reason(spelling: reason), let since, sequence > 0 else { return nil }
    var path = ReachabilityPath(interface: interface, medium: Medium(rawValue: medium))
    path.gateway = try? IPAddress(parsing: gateway)
    path.source = try? IPAddress(parsing: source)
    path.address = try? IPAddress(parsing: address)
    let flags = flags.map { ReachabilityFlags(rawValue: UInt32(truncatingIfNeeded: $0)) }
    let verdict = Verdict(flags: flags, rule: rule, reason: reason, path: path)
    guard verdict.status.rawValue == status else { return nil }
    return TargetState(verdict: verdict, isStale: true, since: min(since, now), sequence: UInt64(max(0, sequence)))
  }
}

extension KeptCounter {
  /// A line each, the value first, since a name may hold anything but a line feed.
  static func text(_ counters: [KeptCounter]) -> String {
    counters.filter { $0.value > 0 && !$0.name.utf8.contains(UInt8(ascii: "\n")) }
      .map { "\($0.value) \($0.name)" }.joined(separator: "\n")
  }

  /// Reads what `text` wrote; a line that is none is left out.
  static func list(_ text: String) -> [KeptCounter] {
    text.utf8.split(separator: UInt8(ascii: "\n")).compactMap { line in
      guard let blank = line.firstIndex(of: UInt8(ascii: " ")), let value = UInt64(Substring(line[..<blank])) else {
        return nil
      }
      return KeptCounter(String(Substring(line[line.index(after: blank)...])), value)
    }
  }
}
