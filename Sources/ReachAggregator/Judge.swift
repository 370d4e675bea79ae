public import ReachCore

/// From what one round saw of a target to a verdict: flags, status, reason and the path that decided.
///
/// A pure function of its arguments. It knows neither earlier rounds nor time; `TargetJudge` adds those.
///
/// Two things hold of every verdict: its status is the target's rule applied to its flags, and the flags are absent
/// exactly while the status is Unknown. Evidence counts from the near to the far: the route, the link, what stands by
/// or in the way, the name, the connection. The nearest that is broken names the reason. Evidence that a probe of the
/// target should have left and did not makes the verdict Unknown, by the reason of the round's fault where there is
/// one, unless something nearer is known to be broken.
public enum Judge {
  /// The verdict on one round's findings of a target.
  public static func verdict(on findings: RoundFindings, of target: Target) -> Verdict {
    let question = Question(findings: findings, target: target)
    switch target.kind {
    case .interface: return question.interfaceVerdict()
    case .host where findings.probes.contains(.dns): return question.nameVerdict()
    case .host, .address, .pair, .defaultPath, .linkLocal: return question.addressVerdict()
    }
  }
}

/// One round's findings beside the target they are about. The layers' parts of the judgement are extensions of it.
struct Question {
  let findings: RoundFindings
  let target: Target

  /// Whether the lookup was bound to an interface, so that another way out of this host is no help.
  var isScoped: Bool {
    if case .linkLocal = target.kind { true } else { target.source.interface != nil }
  }

  /// Whether only the path is asked about, without a peer to talk to.
  var isPathOnly: Bool {
    switch target.kind {
    case .defaultPath, .linkLocal, .interface: true
    case .host, .address, .pair: false
    }
  }

  /// Whether a connection decides.
  var isDecidedByTCP: Bool {
    findings.probes.contains(.tcp) && target.policy.tcp != .advisory && !isPathOnly
  }

  /// Why evidence that was asked for is not there.
  var missingReason: Reason { findings.fault?.reason ?? .notProbed }

  /// The verdict of one assessment.
  func verdict(_ assessment: Assessment, addresses: [AddressVerdict] = []) -> Verdict {
    Verdict(
      flags: assessment.flags, rule: target.policy.statusRule, reason: assessment.reason, path: assessment.path,
      addresses: addresses)
  }

  /// Whether an assessment comes to one of the reachable statuses under the target's rule.
  func isReachable(_ assessment: Assessment) -> Bool {
    target.policy.statusRule.status(of: assessment.flags).isReachable
  }
}
