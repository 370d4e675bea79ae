internal import ReachCore
internal import ReachIO
internal import ReachProbe

extension RoundRunner {
  /// Whether any probe looks at the path.
  var looksAtPath: Bool { probes.contains { $0.layer == .route || $0.layer == .link } }

  /// Looks at route and link alone, and puts what they say together with what the last round left: what the target
  /// comes to now, as far as this host can tell without a packet.
  func lookAtPath(after kept: KeptFindings, until deadline: Instant) async -> RoundFindings {
    let findings = kept.findings(probeSet, of: target.kind, defaultPath: host.defaultPath)
    var (seen, fault) = await look(atPathIn: findings, until: deadline)
    seen.fault = fault
    return seen
  }

  /// The findings with route and link as they are now, and the first fault that kept a probe from looking. What it did
  /// not see stays as it is.
  func look(atPathIn findings: RoundFindings, until deadline: Instant) async -> (RoundFindings, LocalFault?) {
    if let kernelFault { return (findings, kernelFault) }
    var findings = findings
    var fault: LocalFault?
    for probe in probes where probe.layer == .route || probe.layer == .link {
      guard hasPath(for: probe.layer, findings) else { continue }
      guard let backend = probe.backend else {
        fault = fault ?? LocalFault(.backendMissing, detail: probe.name)
        continue
      }
      let context = ProbeContext(
        host: host, deadline: deadline, candidates: findings.candidates, dns: findings.dns)
      do throws(LocalFault) {
        findings.replacePath(try await backend.probe(target, in: context))
      } catch {
        fault = fault ?? error
      }
    }
    return (findings, fault)
  }

  /// Whether there is anything for a probe of this layer to look at.
  func hasPath(for layer: Layer, _ findings: RoundFindings) -> Bool {
    layer == .route ? findings.candidates.contains { $0.address != nil } : !findings.candidates.isEmpty
  }
}

extension RoundFindings {
  /// Takes in what a look at the path saw, where it fits the candidates; nothing else is of use here.
  mutating func replacePath(_ evidence: Evidence) {
    switch evidence {
    case .route(let routes) where routes.count == candidates.count:
      for (index, route) in zip(candidates.indices, routes) { candidates[index].route = route }
    case .link(let links) where links.count == candidates.count:
      for (index, link) in zip(candidates.indices, links) { candidates[index].link = link }
    default: break
    }
  }
}
