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
    let verdict = evidence(findings, target)
    // What a backend that is not there would have seen is not known, so nothing it might contradict is claimed.
    guard findings.fault?.reason == .backendMissing, verdict.status.isReachable else { return verdict }
    return Verdict(
      flags: nil, rule: target.policy.statusRule, reason: .backendMissing, path: verdict.path,
      addresses: verdict.addresses.map {
        AddressVerdict(address: $0.address, state: .untested, reason: .backendMissing)
      })
  }

  private static func evidence(_ findings: RoundFindings, _ target: Target) -> Verdict {
    let question = Question(findings, target)
    switch question.kind {
    case .interface: return question.interfaceVerdict(findings.candidates)
    case .host where findings.probes.contains(.dns):
      return question.nameVerdict(findings.dns, findings.candidates)
    case .host, .address, .defaultPath, .linkLocal: return question.addressVerdict(findings.candidates)
    }
  }
}

/// What a round's evidence is asked, in a few words that cost nothing to hand on. The layers' parts of the judgement
/// are extensions of it.
struct Question {
  /// What a target is, as far as judging it goes.
  enum Kind {
    /// A name.
    case host
    /// An address, alone or as a pair's remote half.
    case address
    /// The default path.
    case defaultPath
    /// 169.254/16 on one interface.
    case linkLocal
    /// An interface.
    case interface
  }

  let kind: Kind
  let probes: ProbeSet
  let rule: StatusRule
  let tcp: TargetPolicy.TCP
  let circumstances: Circumstances
  /// Whether every address must be reachable.
  let needsAllAddresses: Bool
  /// Whether the lookup was bound to an interface, so that another way out of this host is no help.
  let isScoped: Bool
  /// What kept a probe from observing anything.
  let fault: Reason?

  init(_ findings: RoundFindings, _ target: Target) {
    kind =
      switch target.kind {
      case .host: .host
      case .address, .pair: .address
      case .defaultPath: .defaultPath
      case .linkLocal: .linkLocal
      case .interface: .interface
      }
    probes = findings.probes
    rule = target.policy.statusRule
    tcp = target.policy.tcp
    circumstances = findings.circumstances
    needsAllAddresses = target.policy.addresses == .all && kind != .defaultPath
    isScoped = kind == .linkLocal || target.source.interface != nil
    fault = findings.fault?.reason
  }

  /// Whether only the path is asked about, without a peer to talk to.
  var isPathOnly: Bool {
    switch kind {
    case .defaultPath, .linkLocal, .interface: true
    case .host, .address: false
    }
  }

  /// Whether a connection decides.
  var isDecidedByTCP: Bool { probes.contains(.tcp) && tcp != .advisory && !isPathOnly }

  /// Why evidence that was asked for is not there.
  var missingReason: Reason { fault ?? .notProbed }

  /// The verdict of one assessment.
  func verdict(_ assessment: Assessment, addresses: [AddressVerdict] = []) -> Verdict {
    Verdict(
      flags: assessment.flags, rule: rule, reason: assessment.reason, path: assessment.path, addresses: addresses)
  }

  /// Whether an assessment comes to one of the reachable statuses under the target's rule.
  func isReachable(_ assessment: Assessment) -> Bool { rule.status(of: assessment.flags).isReachable }
}
