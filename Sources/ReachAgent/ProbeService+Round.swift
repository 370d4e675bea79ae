internal import ReachBlackbox
internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachProbe
internal import ReachScheduler

extension ProbeService {
  /// Runs one round of a backend against the one address that is chosen, with the probes that it rests on.
  func round(
    _ round: ConfiguredProbe, _ probe: ModuleProbe, _ timeout: Duration, into metrics: inout ProbeMetrics
  ) async -> ModuleProbe.Outcome {
    var target: Target
    switch await probe.addressed(into: &metrics) {
    case .success(let addressed): target = addressed
    case .failure(let ending): return ending.outcome
    }
    target.policy.timeout = timeout
    var probes = [round]
    // Without a route nobody knows which interface a packet would leave by.
    let options = state.withState { $0.pool.options(of: "route") }
    if round.backend == "link", case .address = target.kind {
      let values = options.reduce(into: [:]) { $0[$1.name] = $1.defaultValue }
      probes.append(ConfiguredProbe(backend: "route", options: OptionValues(values), timeout: nil))
    }
    let runner: RoundRunner
    do throws(AgentError) {
      runner = try state.withState { (state) throws(AgentError) in
        try state.pool.runner(for: ConfiguredTarget(target: target, probes: probes))
      }
    } catch {
      return .fault(LocalFault(.badTarget, detail: "\(error)"))
    }
    let left = probe.deadline.since(host.loop.now())
    let report = await runner.runOnce(timeout: max(.milliseconds(1), left), log: probe.log)
    for run in report.runs {
      probe.log.note(
        run.outcome == .success ? .info : .error, "Probe of a layer ended",
        ["backend": run.probe, "outcome": run.outcome.name, "reason": run.outcome.reason.map { "\($0)" } ?? ""])
    }
    guard let run = report.runs.first(where: { $0.probe == round.backend }) else { return .failure }
    switch run.outcome {
    case .success: return .success
    case .failure: return .failure
    case .error(let fault): return .fault(fault)
    case .skipped: return report.findings.fault.map { .fault($0) } ?? .failure
    }
  }
}
