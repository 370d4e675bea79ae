internal import ReachCore
internal import ReachIO
internal import ReachLog

extension TargetBoard {
  /// Takes note of what kept this host from doing its part in a round. A round without trouble costs a look at its runs.
  func noteTroubles(in report: RoundReport, of watched: WatchedTarget) {
    if let fault = report.findings.fault { note(fault, of: watched) }
    for run in report.runs {
      switch run.outcome {
      case .error(let fault) where fault != report.findings.fault: note(fault, of: watched)
      case .failure(let reason) where run.detail == .dnsStale:
        note(
          SelfChecks.Trouble(staleBecause: reason, servers: report.findings.dns?.servers ?? []),
          target: watched.target.name)
      case .success, .failure, .error, .skipped: break
      }
    }
  }

  private func note(_ fault: LocalFault, of watched: WatchedTarget) {
    // That the kernel's tables are closed is said at the start, and concerns every target.
    if let code = watched.kernelRefusal, fault == LocalFault(.probeError(code)) { return }
    if let trouble = SelfChecks.Trouble(fault) { note(trouble, target: watched.target.name) }
  }

  /// Has a trouble said, unless that was done a while ago.
  func note(_ trouble: SelfChecks.Trouble, target: String) {
    let (before, after) = selfChecks.withState { checks in
      let before = checks.due
      checks.note(trouble, target: target, at: loop.now())
      return (before, checks.due)
    }
    guard let after, after != before else { return }
    loop.schedule(at: after) { [weak self] in self?.sayTroubles() }
  }

  private func sayTroubles() {
    let events = selfChecks.withState { $0.take(at: loop.now()) }
    for event in events { log.log(event) }
    guard let due = selfChecks.withState({ $0.due }) else { return }
    loop.schedule(at: due) { [weak self] in self?.sayTroubles() }
  }
}
