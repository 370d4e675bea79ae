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
    while next < plan.entries.count, !Task.isCancelled {
      let wave = plan.entries[next..<min(next + Self.waveSize, plan.entries.count)]
      next = wave.endIndex
      let deadline = share(of: context, waves: 1 + (plan.entries.count - next + Self.waveSize - 1) / Self.waveSize)
      isLate = try await connect(wave, plan, in: context, until: deadline, &findings) || isLate
    }
    if isLate, findings.allSatisfy({ $0.result == .notRun }) {
      throw LocalFault(
        .backendOverran, detail: "the deadline was noticed more than a second late: this host is starved")
    }
    if let log = context.log { note(findings, of: plan, in: log) }
    return .tcp(findings)
  }

  /// Tries the addresses of one wave side by side. Returns whether time-outs were noticed too late to count.
  private func connect(
    _ wave: ArraySlice<ConnectPlan.Entry>, _ plan: ConnectPlan, in context: ProbeContext, until deadline: Instant,
    _ findings: inout [TCPFinding]
  ) async throws(LocalFault) -> Bool {
    let loop = context.host.loop
    var pending: [ConnectAttempt] = []
    for entry in wave {
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
    let board = ConnectBoard(pending, loop: loop)
    let outcome = await loop.wait(until: deadline) { board.watch(endingWith: $0) }
    let isLate = outcome == .deadline && loop.now().since(deadline) > Self.starvation
    board.end(outcome, isLate: isLate, into: &findings)
    return isLate
  }

  /// The end of the first of so many waves: each has the same part of the time that is left.
  private func share(of context: ProbeContext, waves: Int) -> Instant {
    guard waves > 1 else { return context.deadline }
    let now = context.host.loop.now()
    return now.advanced(byNanoseconds: context.deadline.nanoseconds(since: now) / Int64(waves))
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
