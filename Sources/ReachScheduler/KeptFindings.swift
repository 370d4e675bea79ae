internal import ReachCore

/// What a target's last round leaves for looks at its path: what lies beyond this host, and how the path was.
///
/// A look replaces route and link and takes the rest from here. Findings are kept without either, since a target keeps
/// them for as long as it is watched.
struct KeptFindings: Sendable {
  /// What resolution said, for a name. Behind a reference: most targets have none.
  private let resolution: Resolution?
  /// What came of connecting, along the candidates; empty where nothing was tried.
  private let connections: [TCPFinding]
  /// The path as last seen.
  private(set) var path: PathPrint
  /// When that was.
  private(set) var seenAt: Instant

  init(_ findings: RoundFindings, at now: Instant) {
    seenAt = now
    resolution = findings.dns.map(Resolution.init)
    connections = findings.candidates.contains { $0.tcp != nil } ? findings.candidates.map { $0.tcp ?? .none } : []
    path = PathPrint(findings.candidates)
  }

  /// The findings again, without route and link.
  func findings(_ probes: ProbeSet, of kind: Target.Kind, defaultPath: [IPAddress]) -> RoundFindings {
    var findings = RoundFindings(probes: probes, dns: resolution?.finding)
    findings.candidates = RoundRunner.candidates(of: kind, resolved: findings.dns, defaultPath: defaultPath)
    if connections.count == findings.candidates.count {
      for (index, connection) in connections.enumerated() where connection != .none {
        findings.candidates[index].tcp = connection
      }
    }
    return findings
  }

  /// Takes note of how the path is now. Returns whether it is another than before.
  mutating func renew(_ candidates: [Candidate], at now: Instant) -> Bool {
    let fresh = PathPrint(candidates)
    seenAt = now
    defer { path = fresh }
    return fresh.hash != path.hash
  }
}

/// A target's path in a few bytes: enough to tell whether it changed, and which interface it leaves by.
struct PathPrint: Sendable {
  /// Of everything that decides how packets leave, over all candidates.
  let hash: Int
  /// The egress interface of the first candidate that has one; 0 for none.
  let egress: Int32

  init(_ candidates: [Candidate]) {
    var hasher = Hasher()
    var egress: Int32 = 0
    for candidate in candidates {
      hasher.combine(candidate.address)
      // What neighbours do is evidence of the moment and comes and goes with traffic.
      var route = candidate.route
      route?.isNeighbourFailed = false
      hasher.combine(route)
      hasher.combine(candidate.link)
      if egress == 0 { egress = candidate.route?.interfaceIndex ?? candidate.link?.index ?? 0 }
    }
    hash = hasher.finalize()
    self.egress = egress
  }
}

private final class Resolution: Sendable {
  let finding: DNSFinding
  init(_ finding: DNSFinding) { self.finding = finding }
}

extension TCPFinding {
  /// Stands for nothing having been tried.
  fileprivate static let none = TCPFinding(.notRun)
}
