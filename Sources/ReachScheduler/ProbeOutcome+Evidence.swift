internal import ReachCore

extension DNSFinding {
  /// How a run of the dns probe counts. An answer from memory asked nobody anything, so it is no run: `probe_success`
  /// keeps what the last real question came to.
  var outcome: ProbeOutcome {
    switch result {
    case .resolved: isCached ? .skipped : isStale ? .failure(.dnsStale) : .success
    case .failed(let reason): .failure(reason)
    case .fault(let fault): .error(fault)
    }
  }
}

extension ProbeOutcome {
  /// Whether there was a run whose duration means something.
  var hasRun: Bool {
    switch self {
    case .success, .failure: true
    case .error, .skipped: false
    }
  }

  /// How a run of the route probe counts: one routable candidate is enough.
  init(route findings: [RouteFinding]) {
    var outcome = ProbeOutcome.skipped
    for finding in findings {
      switch finding.decision {
      case .unicast, .local:
        self = .success
        return
      case .refused(let reason): outcome = outcome.preferring(.failure(reason))
      case .fault(let code): outcome = outcome.preferring(.error(LocalFault(.probeError(code))))
      }
    }
    self = outcome
  }

  /// How a run of the link probe counts: one usable link is enough. Without any link to look at it is no run.
  init(link findings: [LinkFinding?]) {
    var outcome = ProbeOutcome.skipped
    for case .some(let finding) in findings {
      if finding.state == .usable {
        self = .success
        return
      }
      outcome = outcome.preferring(.failure(finding.reason))
    }
    self = outcome
  }

  /// How a run of the tcp probe counts: success is an open port and nothing else, whatever `tcp_policy` makes of it.
  init(tcp findings: [TCPFinding], along candidates: [Candidate], policy: TargetPolicy.Addresses) {
    var isAnyOpen = false
    var outcome = ProbeOutcome.skipped
    for (finding, candidate) in zip(findings, candidates) {
      switch finding.result {
      case .open: isAnyOpen = true
      case .failed(let reason): outcome = outcome.preferring(.failure(reason))
      case .fault(let code): outcome = outcome.preferring(.error(LocalFault(.probeError(code))))
      case .refusedLocally(let code):
        // The kernel would not send: the routing decision when there was one against it, this host's trouble if not.
        if case .refused(let reason)? = candidate.route?.decision {
          outcome = outcome.preferring(.failure(reason))
        } else {
          outcome = outcome.preferring(.error(LocalFault(.probeError(code))))
        }
      case .notRun: break
      }
    }
    switch (policy, isAnyOpen, outcome) {
    case (.any, true, _), (.all, true, .skipped): self = .success
    default: self = outcome
    }
  }

  /// The one of two that says more of the target: a failure before an error, the first failure before later ones.
  private func preferring(_ other: ProbeOutcome) -> ProbeOutcome {
    switch (self, other) {
    case (.failure, _): self
    case (_, .failure): other
    case (.error, _): self
    default: other
    }
  }
}

extension [TCPFinding] {
  /// The duration of the connection that decides: the first that opened; nil when none did.
  var measured: Duration? { first { $0.result == .open }?.duration }
}
