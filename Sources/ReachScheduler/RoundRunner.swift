public import ReachCore
internal import ReachIO
internal import ReachNetlink
public import ReachProbe

/// Runs the probes of one target, lower layers first, and puts together what they saw.
///
/// Isolation: `run` must be called from a task on the host's loop.
public final class RoundRunner: Sendable {
  /// The target.
  public let target: Target
  /// The probes in the order they run: dns, route, link, tcp, others.
  public let probes: [PlannedProbe]
  /// What the probes share.
  public let host: ProbeHost

  let probeSet: ProbeSet
  /// Whether the target's sockets are bound to an IPv6 address.
  let bindsIPv6: Bool

  /// A runner of these probes, given in any order. Probes that stand in their order already are kept as they are, so
  /// that targets with the same plan can share one array of it.
  public init(target: Target, probes: [PlannedProbe], host: ProbeHost) {
    self.target = target
    self.host = host
    bindsIPv6 = Self.boundAddress(of: target)?.family == .ipv6
    let hasName = if case .host = target.kind { true } else { false }
    self.probes = Self.isInOrder(probes, hasName: hasName) ? probes : Self.inOrder(probes, hasName: hasName)
    probeSet = self.probes.reduce(into: ProbeSet()) { $0.insert(ProbeSet(layer: $1.layer)) }
  }

  /// The probes by their turn; only a name has anything to resolve.
  private static func inOrder(_ probes: [PlannedProbe], hasName: Bool) -> [PlannedProbe] {
    probes.filter { $0.layer != .dns || hasName }.enumerated()
      .sorted { ($0.element.layer.turn, $0.offset) < ($1.element.layer.turn, $1.offset) }.map(\.element)
  }

  private static func isInOrder(_ probes: [PlannedProbe], hasName: Bool) -> Bool {
    guard hasName || !probes.contains(where: { $0.layer == .dns }) else { return false }
    return zip(probes, probes.dropFirst()).allSatisfy { $0.layer.turn <= $1.layer.turn }
  }

  /// Runs one round by itself, outside any schedule, and reports it.
  ///
  /// The report comes at the latest `grace` after the timeout: a backend that has not come back by then is cancelled
  /// and reported as the fault `backend_overran`.
  public func runOnce(
    timeout: Duration? = nil, grace: Duration = .milliseconds(250), log: (any ProbeLog)? = nil
  ) async -> RoundReport {
    let loop = host.loop
    let progress = LoopConfined(RoundProgress(), on: loop)
    let deadline = loop.now().advanced(by: timeout ?? target.policy.timeout)
    let ended = LoopConfined<Task<Void, Never>?>(nil, on: loop)
    let watchdog = loop.spawn { await loop.sleep(until: deadline.advanced(by: grace)) }
    let round = loop.spawn {
      await self.run(until: deadline, into: progress, log: log)
      ended.withState { $0 = watchdog }
      watchdog.cancel()
    }
    await withTaskCancellationHandler {
      await watchdog.value
    } onCancel: {
      watchdog.cancel()
    }
    round.cancel()
    let hasEnded = ended.withState { $0 != nil }
    return progress.withState {
      hasEnded ? $0.takeReport(at: loop.now()) : $0.takeOverrunReport(of: probes, at: loop.now())
    }
  }

  /// Runs one round into `progress`. Returns early when its task is cancelled.
  func run(until deadline: Instant, into progress: LoopConfined<RoundProgress>, log: (any ProbeLog)? = nil) async {
    progress.withState {
      let candidates = Self.candidates(of: target.kind, defaultPath: host.defaultPath)
      $0.begin(probeSet, candidates: candidates, runs: probes.count, at: host.loop.now())
    }
    if bindsIPv6 { await awaitSource(until: deadline, in: progress) }
    for index in probes.indices {
      await run(probes[index], until: deadline, into: progress, log: log)
      if Task.isCancelled { return }
    }
    await lookAgain(until: deadline, at: progress)
  }

  private func run(
    _ probe: PlannedProbe, until deadline: Instant, into progress: LoopConfined<RoundProgress>, log: (any ProbeLog)?
  ) async {
    guard let context = progress.withState({ context(for: probe, until: deadline, in: &$0, log: log) }) else { return }
    guard let backend = probe.backend else { return }
    do throws(LocalFault) {
      let evidence = try await backend.probe(target, in: context)
      if Task.isCancelled { return }
      progress.withState { absorb(evidence, of: probe, into: &$0) }
    } catch {
      if Task.isCancelled { return }
      progress.withState { absorb(error, of: probe, into: &$0) }
    }
  }

  /// The fault of a host that lets this process see neither interfaces nor routes. Nothing that a probe finds can be judged
  /// then: a failure may well be this host's own.
  var kernelFault: LocalFault? { host.links.refusal.map { LocalFault(.probeError($0.code)) } }

  /// What the probe is given; nil, with its run entered, when it has nothing to do or is not there.
  func context(
    for probe: PlannedProbe, until deadline: Instant, in progress: inout RoundProgress, log: (any ProbeLog)?
  ) -> ProbeContext? {
    guard hasWork(probe.layer, progress) else {
      progress.runs.append(ProbeRun(probe: probe.name, outcome: .skipped))
      return nil
    }
    guard probe.backend != nil else {
      let fault = LocalFault(.backendMissing, detail: probe.name)
      progress.note(fault)
      progress.runs.append(ProbeRun(probe: probe.name, outcome: .error(fault)))
      return nil
    }
    if let fault = kernelFault {
      progress.note(fault)
      progress.isOver = true
      progress.runs.append(ProbeRun(probe: probe.name, outcome: .error(fault)))
      return nil
    }
    let now = host.loop.now()
    progress.probeStartedAt = now
    return ProbeContext(
      host: host, deadline: probe.timeout.map { min(deadline, now.advanced(by: $0)) } ?? deadline,
      candidates: progress.findings.candidates, dns: progress.findings.dns, log: log)
  }
}
