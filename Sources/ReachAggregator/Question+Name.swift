internal import ReachCore

/// DNS: what a name comes to.
extension Question {
  /// The verdict on a name: by its addresses where it has any, by the path to the resolver where that is broken, and
  /// by what resolution said otherwise.
  func nameVerdict(_ dns: DNSFinding?, _ candidates: [Candidate]) -> Verdict {
    guard let dns else { return unresolved(fault ?? .dnsPending, candidates) }
    switch dns.result {
    case .resolved:
      return dns.addresses.isEmpty ? failed(.dnsNoData, candidates) : addressVerdict(candidates)
    case .failed(let reason):
      guard dns.canStandIn, !reason.isAuthoritative else { return failed(reason, candidates) }
      let verdict = staleVerdict(candidates)
      // Old addresses that nobody got to try say nothing. That the resolver failed does.
      return verdict.reason == .notProbed ? failed(reason, candidates) : verdict
    case .fault(let fault):
      return dns.canStandIn ? staleVerdict(candidates) : unresolved(fault.reason, candidates)
    }
  }

  /// The verdict on addresses of an earlier answer. Where nothing but the path speaks for them, that they are old is
  /// what a reader needs to know.
  private func staleVerdict(_ candidates: [Candidate]) -> Verdict {
    var verdict = addressVerdict(candidates)
    if verdict.status.isReachable, verdict.reason == .routeOK || verdict.reason == .interfaceUp {
      verdict.reason = .dnsStale
    }
    return verdict
  }

  /// Resolution failed. With no way to a resolver that is a symptom.
  private func failed(_ reason: Reason, _ candidates: [Candidate]) -> Verdict {
    let (path, isBroken) = resolverPath(candidates)
    if isBroken, let path { return verdict(path) }
    if circumstances.isOnDemandName {
      let cellular = path?.flags?.intersection(.isWWAN) ?? []
      let flags: ReachabilityFlags = [.reachable, .transientConnection, .connectionRequired, .connectionOnDemand]
      return verdict(Assessment(flags.union(cellular), .onDemand, .route))
    }
    return verdict(Assessment([], reason, .address, path?.path ?? ReachabilityPath()))
  }

  /// Resolution has not ended, or this host could not ask. A broken way to every resolver is known all the same.
  private func unresolved(_ reason: Reason, _ candidates: [Candidate]) -> Verdict {
    let (path, isBroken) = resolverPath(candidates)
    if isBroken, let path { return verdict(path) }
    return verdict(Assessment(nil, reason, .address, path?.path ?? ReachabilityPath()))
  }

  /// The best way to a resolver, since a stub asks them in turn, and whether every way is known to be broken.
  private func resolverPath(_ candidates: [Candidate]) -> (path: Assessment?, isBroken: Bool) {
    var best: Assessment?
    var isBroken = true
    for candidate in candidates where candidate.role == .resolverPath {
      let path = assessPath(candidate)
      if path.flags == nil || path.isClear { isBroken = false }
      if let held = best, (held.rank, held.stage.rawValue) >= (path.rank, path.stage.rawValue) { continue }
      best = path
    }
    return (best, isBroken && best != nil)
  }
}

extension DNSFinding {
  /// Whether there are addresses of an earlier answer to go on with while the resolver fails.
  var canStandIn: Bool { isStale && !addresses.isEmpty }
}

extension Reason {
  /// Whether a name server vouches that there is no address.
  var isAuthoritative: Bool { self == .dnsNXDomain || self == .dnsNoData }
}
