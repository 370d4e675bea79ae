internal import Glibc
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
  /// The trouble that a fault speaks of; nil for one that says nothing more than the target's reason, or that has been
  /// said in another way.
  init?(_ fault: LocalFault) {
    guard let known = Self.known(fault.reason, hasDetail: !fault.detail.isEmpty) else { return nil }
    self.init(
      check: known.check, reason: fault.reason, problem: fault.detail.isEmpty ? known.problem : fault.detail,
      remedy: fault.remedy.isEmpty ? known.remedy : fault.remedy)
  }

  /// That a resolver fails, and that older answers stand in.
  init(staleBecause reason: Reason, servers: [IPAddress]) {
    let names = servers.map(\.description).joined(separator: ", ")
    self.init(
      check: "resolver", reason: reason,
      problem: "\(reason): \(reason.explanation); addresses of an older answer are used (dns_stale)",
      remedy: names.isEmpty ? "see to the name servers" : "see to the name servers that were asked: \(names)")
  }

  private static func known(
    _ reason: Reason, hasDetail: Bool
  ) -> (check: String, problem: String, remedy: String)? {
    switch reason {
    case .probeError(let code): known(code)
    case .resolverConfig: ("resolver", "no name server is configured", "put a 'nameserver' line into /etc/resolv.conf")
    case .backendOverran where hasDetail: ("schedule", "", "give this host or reachd more time to run")
    case .notProbed where hasDetail: ("configuration", "", "")
    default: nil
    }
  }

  private static func known(_ code: FaultCode) -> (check: String, problem: String, remedy: String) {
    switch code.errno {
    case EPERM, EACCES: ("permission", "this process is not permitted to probe (\(code))", "run it with more rights")
    case EMFILE:
      (
        "descriptors", "this process has no descriptor left to probe with (EMFILE)",
        "allow it more: LimitNOFILE= in its systemd unit"
      )
    case ENFILE: ("descriptors", "this host has no descriptor left (ENFILE)", "raise the sysctl fs.file-max")
    case ENOBUFS, ENOMEM, nil:
      ("memory", "this host has no memory left to probe with (\(code))", "free memory on this host")
    case EADDRNOTAVAIL:
      (
        "source", "no local port is left, or the source address is not this host's (EADDRNOTAVAIL)",
        "widen the sysctl net.ipv4.ip_local_port_range, or correct source.address"
      )
    default: ("probe", "this host could not probe (\(code))", "")
    }
  }
}
