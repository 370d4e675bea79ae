internal import ReachCore
internal import ReachIO
internal import ReachProbe

extension RoundRunner {
  /// Whether a probe of this layer can still add to the round. Otherwise a lower layer has decided.
  func hasWork(_ layer: Layer, _ progress: RoundProgress) -> Bool {
    if progress.isOver { return false }
    switch layer {
    case .dns: return true
    case .route:
      // An interface is no destination.
      return progress.findings.candidates.contains { $0.address != nil }
    case .link: return !progress.findings.candidates.isEmpty
    case .tcp, .config, .local:
      return !progress.isOnResolverPath && progress.findings.candidates.contains(where: \.canBeTried)
    }
  }

  /// Takes in what a probe saw. What does not fit the round is the backend's fault, and is not used.
  func absorb(_ evidence: Evidence, of probe: PlannedProbe, into progress: inout RoundProgress) {
    let count = progress.findings.candidates.count
    let elapsed = host.loop.now().since(progress.probeStartedAt)
    switch (evidence, probe.layer) {
    case (.dns(let finding), .dns):
      var run = run(of: probe, finding.outcome, elapsed)
      if finding.isStale { run.detail = .dnsStale }
      progress.runs.append(run)
      absorb(finding, into: &progress)
    case (.route(let findings), .route) where findings.count == count:
      progress.findings.replacePath(evidence)
      progress.runs.append(run(of: probe, ProbeOutcome(route: findings), elapsed))
    case (.link(let findings), .link) where findings.count == count:
      progress.findings.replacePath(evidence)
      progress.runs.append(run(of: probe, ProbeOutcome(link: findings), elapsed))
    case (.tcp(let findings), .tcp) where findings.count == count:
      for index in 0..<count { progress.findings.candidates[index].take(findings[index]) }
      let outcome = ProbeOutcome(
        tcp: findings, along: progress.findings.candidates, policy: target.policy.addresses)
      progress.runs.append(run(of: probe, outcome, findings.measured ?? elapsed))
    default:
      absorb(Self.misfit(evidence, of: probe, candidates: count), of: probe, into: &progress)
    }
  }

  /// Takes in that a probe could not do its part.
  func absorb(_ fault: LocalFault, of probe: PlannedProbe, into progress: inout RoundProgress) {
    progress.note(fault)
    if probe.layer == .dns { progress.isOver = true }
    progress.runs.append(ProbeRun(probe: probe.name, outcome: .error(fault), duration: nil))
  }

  /// Takes in what resolution said: its addresses, or the way to the resolver, become the candidates.
  private func absorb(_ finding: DNSFinding, into progress: inout RoundProgress) {
    progress.findings.dns = finding
    progress.findings.candidates = Self.candidates(
      of: target.kind, resolved: finding, defaultPath: host.defaultPath)
    progress.isOver = finding.isFinal
    progress.isOnResolverPath = finding.addresses.isEmpty && !finding.isFinal
    if case .fault(let fault) = finding.result, finding.isFinal { progress.note(fault) }
  }

  private func run(of probe: PlannedProbe, _ outcome: ProbeOutcome, _ duration: Duration) -> ProbeRun {
    ProbeRun(probe: probe.name, outcome: outcome, duration: outcome.hasRun ? duration : nil)
  }

  private static func misfit(_ evidence: Evidence, of probe: PlannedProbe, candidates: Int) -> LocalFault {
    let answer =
      switch evidence {
      case .dns: "a resolution"
      case .route(let findings): "\(findings.count) route findings"
      case .link(let findings): "\(findings.count) link findings"
      case .tcp(let findings): "\(findings.count) tcp findings"
      }
    return LocalFault(
      .probeError(FaultCode(errno: 71)),
      detail: "backend \(probe.name) answered with \(answer) where \(candidates) of \(probe.layer) were asked for")
  }
}

extension Candidate {
  /// Takes in what a probe of the tcp layer saw. Where several look at one address, the worst that any of them saw counts:
  /// an address is open when all of them found it so.
  fileprivate mutating func take(_ finding: TCPFinding) {
    guard let earlier = tcp, earlier.weight >= finding.weight else {
      tcp = finding
      return
    }
  }

  /// Whether a connection could be tried: an address of the target, routable over a usable link as far as is known.
  var canBeTried: Bool {
    guard role == .target, address != nil else { return false }
    if let route, !route.isRoutable { return false }
    if let link, link.state != .usable { return false }
    return true
  }
}

extension TCPFinding {
  /// How much it says against an address: what was seen of the network more than what this host could not do.
  fileprivate var weight: Int {
    switch result {
    case .notRun: 0
    case .open: 1
    case .fault: 2
    case .refusedLocally: 3
    case .failed: 4
    }
  }
}
