internal import Glibc
public import ReachCore
internal import ReachIO
public import ReachProbe

/// Connects to every address of a target and says what came of each.
///
/// One suspension and one timer serve a whole probe, whatever the number of addresses; a connection that ends within
/// connect(2), as one to this host's own addresses does, costs neither.
public struct TCPProbe: ProbeBackend {
  /// How many connections of one target are under way at a time. A name with more addresses is tried in waves, each
  /// of which has its share of the time that is left.
  static let waveSize = 16

  /// Less than this leaves no time for a SYN to be sent again (RFC 6298 has 1 s for the first time), or for a long way.
  static let leastShare = Duration.seconds(1)

  /// How long an address is waited for at least when another one is open: a SYN that got lost has been sent again then.
  static let leastPatience = Duration.milliseconds(1_500)

  /// A time-out that is noticed this much too late says more about this host than about the target.
  static let starvation = Duration.seconds(1)

  private let port: UInt16?
  private let closing: ConnectAttempt.Closing
  private let calls: SocketCalls

  init(port: UInt16? = nil, closing: ConnectAttempt.Closing = .reset, calls: SocketCalls = .system) {
    self.port = port
    self.closing = closing
    self.calls = calls
  }

  /// Observes the target: see `ProbeBackend`. Throws `probe_error:EPERM` when this process may not bind its socket as
  /// the target asks, `not_probed` when no port is known, `backend_overran` when this host was too busy to notice the
  /// deadline in time and nothing else was seen.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    guard let port = port ?? target.port else {
      throw LocalFault(.notProbed, detail: "no port: name one in the target, or set the tcp probe's option 'port'")
    }
    let plan = ConnectPlan(target: target, port: port, candidates: context.candidates, links: context.host.links)
    var findings = plan.findings
    guard context.deadline > context.host.loop.now() else { return .tcp(findings) }
    var isLate = false
    var next = 0
    let enough = enough(for: plan, target.policy, context)
    while next < plan.entries.count, !Task.isCancelled {
      let remaining = plan.entries.count - next
      let wanted = min(Self.waveSize, remaining)
      // The first connection is the round's own; those beside it are taken from what all rounds share.
      let width = 1 + (wanted > 1 ? context.host.connections.take(upTo: wanted - 1) : 0)
      defer { context.host.connections.giveBack(width - 1) }
      let wave = Wave(
        entries: plan.entries[next..<(next + width)],
        deadline: share(of: context, waves: (remaining + width - 1) / width), enough: enough)
      next = wave.entries.endIndex
      let began = context.host.loop.now()
      isLate = try await connect(wave, plan, in: context, &findings) || isLate
      if width < wanted, wave.deadline.nanoseconds(since: began) < Self.leastShare.nanoseconds {
        // It was for want of descriptors that they had so little time.
        Self.excuse(wave, &findings)
      }
    }
    if isLate, findings.allSatisfy({ $0.result == .notRun }) {
      throw LocalFault(
        .backendOverran, detail: "the deadline was noticed more than a second late: this host is starved")
    }
    if let log = context.log { note(findings, of: plan, in: log) }
    return .tcp(findings)
  }

  /// Some addresses that are tried side by side.
  private struct Wave {
    let entries: ArraySlice<ConnectPlan.Entry>
    /// The end of the time for them.
    let deadline: Instant
    /// When those that have not answered are given up, if one of the target's addresses is open.
    let enough: Instant?
  }

  /// Tries the addresses of one wave. Returns whether time-outs were noticed too late to count.
  private func connect(
    _ wave: Wave, _ plan: ConnectPlan, in context: ProbeContext, _ findings: inout [TCPFinding]
  ) async throws(LocalFault) -> Bool {
    let loop = context.host.loop
    var pending: [ConnectAttempt] = []
    for entry in wave.entries {
      do throws(LocalFault) {
        switch try ConnectAttempt.begin(entry, binding: plan.binding, closing: closing, calls: calls, loop: loop) {
        case .finished(let finding): findings[entry.index] = finding
        case .pending(let attempt): pending.append(attempt)
        }
      } catch {
        for attempt in pending { attempt.abandon() }
        throw error
      }
    }
    guard !pending.isEmpty else { return false }
    let isAnyOpen = wave.enough != nil && findings.contains { $0.result == .open }
    let board = ConnectBoard(pending, enough: wave.enough, isAnyOpen: isAnyOpen, loop: loop)
    let outcome = await loop.wait(until: wave.deadline) { board.watch(endingWith: $0) }
    let isLate = outcome == .deadline && loop.now().since(wave.deadline) > Self.starvation
    board.end(outcome, isLate: isLate, into: &findings)
    return isLate
  }

  // MARK: Time

  /// The end of the first of so many waves: each has the same part of the time that is left.
  private func share(of context: ProbeContext, waves: Int) -> Instant {
    guard waves > 1 else { return context.deadline }
    let now = context.host.loop.now()
    return now.advanced(byNanoseconds: context.deadline.nanoseconds(since: now) / Int64(waves))
  }

  /// The end of one address's share of the time there is: where one open address decides, a dead one beside it takes no
  /// more. Nil where every address has to be known.
  private func enough(for plan: ConnectPlan, _ policy: TargetPolicy, _ context: ProbeContext) -> Instant? {
    guard plan.entries.count > 1, policy.addresses == .any else { return nil }
    let now = context.host.loop.now()
    let share = context.deadline.nanoseconds(since: now) / Int64(plan.entries.count)
    return now.advanced(byNanoseconds: max(share, Self.leastPatience.nanoseconds))
  }

  /// Takes back what is held against addresses that had too little time.
  private static func excuse(_ wave: Wave, _ findings: inout [TCPFinding]) {
    for entry in wave.entries where findings[entry.index].result == .failed(.tcpTimeout) {
      findings[entry.index] = TCPFinding(.fault(FaultCode(errno: EMFILE)))
    }
  }

  private func note(_ findings: [TCPFinding], of plan: ConnectPlan, in log: any ProbeLog) {
    for entry in plan.entries {
      let finding = findings[entry.index]
      let took = finding.duration.map { " after \($0)" } ?? ""
      let trip = finding.rtt.map { ", round trip \($0)" } ?? ""
      log.note("\(entry.peer.address) port \(entry.peer.port): \(finding.result)\(took)\(trip)")
    }
  }
}
