internal import ReachCore

/// What a round has seen so far: written by the runner, and read by whoever has to report for a backend that never
/// came back.
struct RoundProgress: Sendable {
  /// When the round began.
  var startedAt = Instant.distantFuture
  /// What was seen.
  var findings = RoundFindings(probes: [])
  /// The probes that have had their turn.
  var runs: [ProbeRun] = []
  /// When the probe that runs now began.
  var probeStartedAt = Instant.distantFuture
  /// Whether the round has taken to the way to the resolver, since the name gave no address.
  var isOnResolverPath = false
  /// Whether a fault leaves nothing for later probes to do.
  var isOver = false

  /// Begins a round.
  mutating func begin(_ probes: ProbeSet, candidates: [Candidate], runs count: Int, at now: Instant) {
    startedAt = now
    findings = RoundFindings(probes: probes, candidates: candidates)
    runs = []
    runs.reserveCapacity(count)
    isOnResolverPath = false
    isOver = false
  }

  /// Notes a fault; the first one of a round stands, since later ones tend to follow from it.
  mutating func note(_ fault: LocalFault) {
    if findings.fault == nil { findings.fault = fault }
  }

  /// Forgets what was seen, of a path that is no more.
  mutating func forgetFindings() { findings = RoundFindings(probes: findings.probes) }

  /// The report of what there is, which is moved out.
  mutating func takeReport(at now: Instant) -> RoundReport {
    let report = RoundReport(startedAt: startedAt, finishedAt: now, findings: findings, runs: runs)
    findings = RoundFindings(probes: [])
    runs = []
    return report
  }

  /// The report for a round whose backend does not come back: what there is, the fault, and the rest not run.
  mutating func takeOverrunReport(of plan: [PlannedProbe], at now: Instant) -> RoundReport {
    let reached = runs.count
    let fault = LocalFault(.backendOverran, detail: reached < plan.count ? plan[reached].name : "")
    findings.fault = fault
    for (index, probe) in plan.enumerated() where index >= reached {
      let outcome: ProbeOutcome = index > reached ? .skipped : .error(fault)
      runs.append(ProbeRun(probe: probe.name, outcome: outcome))
    }
    return takeReport(at: now)
  }
}
