internal import ReachCore
internal import ReachIO
internal import ReachProbe

extension RoundRunner {
  /// Looks at route and link once more when a connection came to nothing.
  ///
  /// They were looked at before the connection was tried, which may be seconds ago. Meanwhile a cable may have been
  /// pulled, a route taken away, or the next hop found not to answer: causes that are nearer than the silence they lead
  /// to. The second look replaces what the first one saw and is no run of its own. It costs a few microseconds, of rounds
  /// that failed only.
  func lookAgain(until deadline: Instant, at progress: LoopConfined<RoundProgress>) async {
    guard progress.withState({ $0.findings.candidates.contains(where: \.hasFailedOnTheWay) }) else { return }
    for probe in probes where probe.layer == .route || probe.layer == .link {
      guard let backend = probe.backend else { continue }
      let (candidates, dns) = progress.withState { ($0.findings.candidates, $0.findings.dns) }
      let context = ProbeContext(host: host, deadline: deadline, candidates: candidates, dns: dns)
      // What the first look saw stands where the second one fails.
      guard let evidence = try? await backend.probe(target, in: context), !Task.isCancelled else { continue }
      progress.withState { $0.findings.replacePath(evidence) }
    }
  }
}

extension Candidate {
  /// Whether a connection failed in a way that a broken path would explain.
  var hasFailedOnTheWay: Bool {
    switch tcp?.result {
    case .failed(.tcpRefused), .open, .fault, .notRun, nil: false
    case .failed, .refusedLocally: true
    }
  }
}
