public import ReachCore

/// Everything the exposition shows of one target: counters, and the state as it stands.
///
/// A value that is changed in place, at the cost of a few additions a round: text is rendered only when the target is
/// made and when its path changes. Wrap it in `LoopConfined` to give it to an `Exposition`.
public struct TargetSeries: Sendable {
  /// `target="…",team="…"`, ready to be written.
  let labels: PaddedBytes
  let detail: MetricsDetail
  private let isName: Bool

  private(set) var status: Status = .unknown
  private(set) var flags: ReachabilityFlags?
  private(set) var reason: Reason = .notProbed
  /// The labels `layer` and `reason`, ready to be written; nil for a reason that is rendered when it is asked for.
  private(set) var reasonTail = ReasonPieces.info(.notProbed)
  private(set) var isStale = false
  private(set) var since: Int64?
  /// `,interface="eth0",…`; empty while there is no path.
  private(set) var path: [UInt8] = []
  var transitions: StatusTable<UInt32> = StatusTable(repeating: 0)
  var spent: StatusTable<Int64> = StatusTable(repeating: 0)
  private var enteredAt: Instant
  var probes: [ProbeSeries]
  var failures: [FailureCount] = []
  private(set) var addresses: AddressCounts?
  private(set) var rtt: Int64?
  private(set) var ttl: Int64?
  var pathChanges: UInt32 = 0
  var addressChangeCount: UInt32 = 0
  /// `,cause="link:eth0"`; empty while there is none.
  private(set) var cause: [UInt8] = []
  /// Times fresh evidence told of another status than the evidence before.
  public internal(set) var rawChanges: UInt32 = 0
  /// Whether damping holds a status that the newest evidence contradicts.
  public private(set) var isFlapping = false

  private var pathHash = 0
  private var addressSetHash: Int?

  /// The series of a target that has not been probed: those that exist from the start stand at 0.
  ///
  /// - Parameters:
  ///   - probes: the target's probes in the order in which they run; each has its run counts from the start.
  ///   - now: from when on the time spent in Unknown counts.
  public init(target: Target, probes: [ProbeDescription], detail: MetricsDetail = .standard, at now: Instant) {
    labels = PaddedBytes(LabelText.targetLabels(target))
    self.detail = detail
    if case .host = target.kind { isName = true } else { isName = false }
    enteredAt = now
    self.probes = probes.prefix(Self.probeLimit).map { ProbeSeries($0, detail: detail) }
  }

  private static let probeLimit = 32

  /// Times the set of addresses changed; nil for a target that is no name.
  var addressChanges: UInt32? { isName ? addressChangeCount : nil }

  /// The time spent in a status, up to `now`, in nanoseconds.
  func nanoseconds(in status: Status, at now: Instant) -> Int64 {
    spent[status] &+ (status == self.status ? max(0, now.nanoseconds(since: enteredAt)) : 0)
  }

  // MARK: Recording

  /// Counts a finished round: each probe's run, what resolution said, the last round-trip time.
  ///
  /// `wall` is when it ended, in nanoseconds since 1970 UTC; without it durations are counted, but none is kept as an
  /// exemplar.
  public mutating func record(_ report: RoundReport, wall: Int64? = nil) {
    for run in report.runs { record(run, of: wall.flatMap { report.findings.subject(of: run, at: $0) }) }
    if let dns = report.findings.dns { record(dns) }
    for candidate in report.findings.candidates where candidate.role == .target {
      if let tcp = candidate.tcp, tcp.result == .open, let rtt = tcp.rtt { self.rtt = max(0, rtt.nanoseconds) }
    }
  }

  /// Counts one run of a probe; of a probe that was not declared too, with its first run.
  public mutating func record(_ run: ProbeRun) { record(run, of: nil) }

  private mutating func record(_ run: ProbeRun, of subject: Exemplar.Subject?) {
    let index: Int
    if let known = probes.firstIndex(where: { $0.name == run.probe }) {
      index = known
    } else {
      guard probes.count < Self.probeLimit else { return }
      let layer = Layer(rawValue: run.probe) ?? .local
      probes.append(ProbeSeries(ProbeDescription(name: run.probe, layer: layer), detail: detail))
      index = probes.count - 1
    }
    probes[index].record(run, of: subject)
    guard detail != .compact else { return }
    if let reason = run.outcome.reason { count(reason, of: UInt8(truncatingIfNeeded: index)) }
    // Beside the failure that made it so.
    if run.detail == .dnsStale { count(.dnsStale, of: UInt8(truncatingIfNeeded: index)) }
  }

  /// Counts rounds in which no probe had its turn.
  public mutating func recordSkipped(rounds: Int) {
    for index in probes.indices { probes[index].runs.skipped &+= UInt32(clamping: rounds) }
  }

  /// Counts a change of status or of path.
  public mutating func record(_ event: TargetEvent) {
    switch event {
    case .changed(let change): transitions[change.to.status] &+= 1
    case .pathChanged: pathChanges &+= 1
    case .initial, .flagsChanged: break
    }
  }

  /// Takes over the state as it stands after a round or an event. The time spent in a status is counted up to `now`.
  public mutating func update(_ state: TargetState, at now: Instant) {
    let verdict = state.verdict
    if verdict.status != status {
      spent[status] &+= max(0, now.nanoseconds(since: enteredAt))
      status = verdict.status
      enteredAt = max(now, enteredAt)
    }
    flags = verdict.flags
    if reason != verdict.reason {
      reason = verdict.reason
      reasonTail = ReasonPieces.info(reason)
    }
    isStale = state.isStale
    since = state.since
    guard detail != .compact else { return }
    update(verdict.path)
    if addresses != nil { addresses = AddressCounts(verdict.addresses) }
  }

  /// Says what damping does: how often evidence changed without regard to it, and whether it holds the status now.
  public mutating func setDamping(rawChanges: UInt32, isFlapping: Bool) {
    self.rawChanges = rawChanges
    self.isFlapping = isFlapping
  }

  /// Says for which cause, shared with other targets, the target is NotReachable; nil when there is none.
  public mutating func setCause(_ cause: String?) {
    self.cause = []
    guard let cause else { return }
    self.cause.append(UInt8(ascii: ","))
    LabelText.append("cause", cause, to: &self.cause)
  }

  private mutating func record(_ dns: DNSFinding) {
    guard isName else { return }
    if addresses == nil { addresses = AddressCounts([]) }
    guard dns.result == .resolved, !dns.isStale else { return }
    ttl = dns.ttl.map { max(0, $0.nanoseconds) }
    // The order of an answer changes from one to the next; the sum of hashes does not depend on it.
    let hash = dns.addresses.reduce(0) { $0 &+ $1.hashValue }
    if let before = addressSetHash, before != hash { addressChangeCount &+= 1 }
    addressSetHash = hash
  }

  /// Counts failures for one reason.
  mutating func count(_ reason: Reason, of probe: UInt8, times: UInt32 = 1) {
    if let known = failures.firstIndex(where: { $0.probe == probe && $0.reason == reason }) {
      failures[known].count &+= times
      return
    }
    guard failures.count < 256 else { return }
    let text = reason.description
    let place = failures.firstIndex { $0.probe > probe || ($0.probe == probe && $0.reason.description > text) }
    failures.insert(FailureCount(probe: probe, reason: reason, count: times), at: place ?? failures.count)
  }

  private mutating func update(_ path: ReachabilityPath) {
    // Comparing hashes saves keeping the path beside its text.
    let hash = path.hashValue
    guard hash != pathHash else { return }
    pathHash = hash
    self.path = path.isNone ? [] : path.rendered
  }
}

extension ReachabilityPath {
  fileprivate var isNone: Bool { interface.isEmpty && gateway == nil && source == nil && address == nil }

  fileprivate var rendered: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(128)
    let values = [
      ("interface", interface), ("medium", medium?.rawValue ?? ""), ("gateway", gateway?.description ?? ""),
      ("source", source?.description ?? ""), ("address", address?.description ?? ""),
    ]
    for (name, value) in values {
      bytes.append(UInt8(ascii: ","))
      LabelText.append(name, value, to: &bytes)
    }
    return bytes.fitted
  }
}

/// One value for each status.
struct StatusTable<Value: Sendable>: Sendable {
  private var values: (Value, Value, Value, Value)

  init(repeating value: Value) { values = (value, value, value, value) }

  subscript(status: Status) -> Value {
    get {
      switch status {
      case .unknown: values.0
      case .notReachable: values.1
      case .reachableViaWWAN: values.2
      case .reachableViaWiFi: values.3
      }
    }
    set {
      switch status {
      case .unknown: values.0 = newValue
      case .notReachable: values.1 = newValue
      case .reachableViaWWAN: values.2 = newValue
      case .reachableViaWiFi: values.3 = newValue
      }
    }
  }
}

/// How many addresses of each family are in each state.
struct AddressCounts {
  private var counts: (UInt16, UInt16, UInt16, UInt16, UInt16, UInt16) = (0, 0, 0, 0, 0, 0)

  init(_ addresses: [AddressVerdict]) {
    for verdict in addresses { self[verdict.address.family, verdict.state] &+= 1 }
  }

  subscript(family: IPAddress.Family, state: AddressVerdict.State) -> UInt16 {
    get {
      switch (family, state) {
      case (.ipv4, .reachable): counts.0
      case (.ipv4, .unreachable): counts.1
      case (.ipv4, .untested): counts.2
      case (.ipv6, .reachable): counts.3
      case (.ipv6, .unreachable): counts.4
      case (.ipv6, .untested): counts.5
      }
    }
    set {
      switch (family, state) {
      case (.ipv4, .reachable): counts.0 = newValue
      case (.ipv4, .unreachable): counts.1 = newValue
      case (.ipv4, .untested): counts.2 = newValue
      case (.ipv6, .reachable): counts.3 = newValue
      case (.ipv6, .unreachable): counts.4 = newValue
      case (.ipv6, .untested): counts.5 = newValue
      }
    }
  }
}
