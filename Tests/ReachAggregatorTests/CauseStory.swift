internal import ReachAggregator
internal import ReachCore

/// A ledger, virtual time, and all that was told.
struct CauseStory {
  /// What one line of the log would say.
  struct Told: Hashable {
    var cause: String
    var targets: [Int]
    var id: String?

    init(_ cause: String, _ targets: [Int], id: String?) {
      self.cause = cause
      self.targets = targets
      self.id = id
    }
  }

  var ledger = CauseLedger(run: 0x5eed)
  private(set) var now = Instant(nanoseconds: 0)
  private(set) var announced: [Told] = []
  private(set) var cleared: [Told] = []
  private(set) var reasons: [Reason] = []
  private(set) var lasted: [Duration] = []
  /// The cause of each target that has one.
  private(set) var assigned: [Int: String] = [:]
  /// The identifier that the first failure of each target had.
  private(set) var ids: [Int: String] = [:]

  /// Announcements and their ends.
  var told: [Told] { announced + cleared }

  mutating func down(_ key: Int, _ evidence: CauseEvidence) { note(key, .notReachable, evidence) }
  mutating func up(_ key: Int, _ evidence: CauseEvidence) { note(key, .reachableViaWiFi, evidence) }

  /// A judgement; what comes of it is taken in at once, unless only the path was looked at, which `endSweep` ends.
  mutating func note(_ key: Int, _ status: Status, _ evidence: CauseEvidence?, began seconds: Double = 0) {
    ledger.note(key, status, evidence, began: now.advanced(by: .seconds(seconds)), at: now)
    if status == .notReachable, ids[key] == nil { ids[key] = ledger.causeID(of: key) }
    if evidence?.isPathOnly != true { settle() }
  }

  mutating func settle() { take(ledger.settle(at: now)) }
  mutating func endSweep() { take(ledger.endSweep(at: now)) }

  /// Lets time pass, in which whatever is due is settled.
  mutating func pass(_ seconds: Double) {
    let end = now.advanced(by: .seconds(seconds))
    while let due = ledger.nextSettle, due <= end {
      now = max(now, due)
      settle()
      if ledger.nextSettle == due { break }
    }
    now = end
  }

  private mutating func take(_ changes: [CauseChange]) {
    for change in changes {
      switch change {
      case .announced(let report):
        announced.append(Told(report.cause.description, report.targets, id: report.id))
        reasons.append(report.reason)
      case .cleared(let report, let lasted):
        cleared.append(Told(report.cause.description, report.targets, id: report.id))
        self.lasted.append(lasted)
      case .assigned(let key, let cause): assigned[key] = cause?.description
      }
    }
  }
}

extension Cause {
  static func gateway(_ text: String) -> Cause { .gateway(address(text), interface: "eth0") }

  /// A dotted quad.
  static func address(_ text: String) -> IPAddress {
    IPAddress(octets: text.split(separator: ".").compactMap { UInt8($0) }) ?? IPAddress(ipv4: 0)
  }
}

extension CauseEvidence {
  static func lost(_ interface: String, isPathOnly: Bool = false) -> CauseEvidence {
    CauseEvidence(blame: Blame(.link(interface), .carrierLost, isDirect: true), isPathOnly: isPathOnly)
  }

  static func usable(_ interface: String, isPathOnly: Bool = false) -> CauseEvidence {
    CauseEvidence(usableInterface: interface, isPathOnly: isPathOnly)
  }

  static func unroutable(_ reason: Reason) -> CauseEvidence {
    CauseEvidence(blame: Blame(.route(reason), reason, isDirect: true))
  }

  static func answered(_ gateway: String) -> CauseEvidence {
    CauseEvidence(gateway: .gateway(gateway), gatewayWord: .works, usableInterface: "eth0")
  }

  static func silent(_ gateway: String) -> CauseEvidence {
    CauseEvidence(
      blame: Blame(.gateway(gateway), .tcpTimeout, isDirect: false), gateway: .gateway(gateway), gatewayWord: .silent,
      usableInterface: "eth0")
  }

  static func neighbour(_ gateway: String) -> CauseEvidence {
    CauseEvidence(
      blame: Blame(.gateway(gateway), .neighbourFailed, isDirect: true), gateway: .gateway(gateway),
      gatewayWord: .silent, usableInterface: "eth0")
  }

  static func resolved(_ server: String) -> CauseEvidence {
    CauseEvidence(servers: [Cause.address(server)], serverWord: .works)
  }

  static func unresolved(_ servers: String..., reason: Reason, behind gateway: String? = nil) -> CauseEvidence {
    let addresses = servers.map(Cause.address)
    return CauseEvidence(
      blame: Blame(.resolver(addresses[0]), reason, isDirect: reason == .dnsUnreachable),
      gateway: gateway.map { .gateway($0) }, gatewayWord: gateway == nil ? .nothing : .serverSilent,
      servers: addresses, serverWord: .silent)
  }

  static func unresolved(_ server: String, _ reason: Reason, behind gateway: String? = nil) -> CauseEvidence {
    unresolved(server, reason: reason, behind: gateway)
  }

  static func unresolved(_ first: String, _ second: String, _ reason: Reason) -> CauseEvidence {
    unresolved(first, second, reason: reason)
  }
}
