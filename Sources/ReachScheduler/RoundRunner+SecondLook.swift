internal import ReachCore
internal import ReachIO

extension RoundRunner {
  /// Looks at route and link once more when a connection came to nothing.
  ///
  /// They were looked at before the connection was tried, which may be seconds ago. Meanwhile a cable may have been
  /// pulled, a route taken away, or the next hop found not to answer: causes that are nearer than the silence they lead
  /// to. The second look replaces what the first one saw and is no run of its own. It costs a few microseconds, of rounds
  /// that failed only.
  func lookAgain(until deadline: Instant, at progress: LoopConfined<RoundProgress>) async {
    guard progress.withState({ $0.findings.candidates.contains(where: \.hasFailedOnTheWay) }) else { return }
    let seen = progress.withState { $0.findings }
    // What the first look saw stands where the second one fails.
    let (again, _) = await look(atPathIn: seen, until: deadline)
    if !Task.isCancelled { progress.withState { $0.findings = again } }
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
