internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct JudgeInvariantTests {
  /// Calls `check` with many rounds that nobody thought of; other ones for each seed.
  private func forMany(seed: UInt64, _ check: (RoundFindings, Target, Verdict) -> Void) {
    var evidence = RandomEvidence(seed: seed)
    for _ in 0..<12_000 {
      let target = evidence.target()
      let findings = evidence.findings()
      check(findings, target, Judge.verdict(on: findings, of: target))
    }
  }

  @Test("The status is the rule applied to the flags, and Unknown exactly when they are absent")
  func statusFollowsFlags() {
    forMany(seed: 1) { findings, target, verdict in
      expect(verdict.status == target.policy.statusRule.status(of: verdict.flags), findings)
      expect((verdict.status == .unknown) == (verdict.flags == nil), findings)
    }
  }

  @Test("Unknown has a local or configured reason, and nothing else has")
  func reasonsOfUnknown() {
    forMany(seed: 2) { findings, _, verdict in
      let isOurs = verdict.reason.layer == .local || verdict.reason.layer == .config
      expect(isOurs == (verdict.flags == nil), findings)
    }
  }

  @Test("C, i and D come with c, c with R, and t with W; only W outlives R")
  func flagsGoTogether() {
    forMany(seed: 3) { findings, _, verdict in
      guard let flags = verdict.flags else { return }
      if !flags.isDisjoint(with: [.connectionOnTraffic, .interventionRequired, .connectionOnDemand]) {
        expect(flags.contains(.connectionRequired), findings)
      }
      if flags.contains(.connectionRequired) { expect(flags.contains(.reachable), findings) }
      if !flags.contains(.reachable) {
        expect(flags.isSubset(of: .isWWAN), findings)
      } else if flags.contains(.isWWAN) {
        expect(flags.contains(.transientConnection), findings)
      }
    }
  }

  @Test("The default path has neither l nor d, an interface no d")
  func flagsByKind() {
    forMany(seed: 4) { findings, target, verdict in
      guard let flags = verdict.flags else { return }
      switch target.kind {
      case .defaultPath: expect(flags.isDisjoint(with: [.isLocalAddress, .isDirect]), findings)
      case .interface: expect(!flags.contains(.isDirect), findings)
      case .host, .address, .pair, .linkLocal: break
      }
    }
  }

  @Test("One reachable address makes a target reachable; where all must be, one that is not keeps it from that")
  func addressesAgree() {
    forMany(seed: 5) { findings, target, verdict in
      guard !verdict.addresses.isEmpty, findings.candidates.allSatisfy({ $0.address != nil }) else { return }
      let states = verdict.addresses.map(\.state)
      switch target.policy.addresses {
      case .any: expect(states.contains(.reachable) == verdict.status.isReachable, findings)
      case .all: expect(states.allSatisfy { $0 == .reachable } == verdict.status.isReachable, findings)
      }
      if verdict.status == .unknown { expect(states.contains(.untested), findings) }
    }
  }

  @Test("Where every probe met nothing but this host's own trouble, the target is not said to be down")
  func faultsAlone() {
    var evidence = RandomEvidence(seed: 7)
    for _ in 0..<10_000 {
      let target = evidence.target()
      var findings = evidence.findings()
      findings.dns = findings.dns.map { _ in DNSFinding(.fault(LocalFault(.resolverConfig))) }
      for index in findings.candidates.indices {
        findings.candidates[index].address = Scene.remote
        findings.candidates[index].link?.state = .usable
        findings.candidates[index].link?.underlay = nil
        findings.candidates[index].route = RouteFinding(.fault(Scene.lowMemory))
        findings.candidates[index].tcp = TCPFinding(.fault(Scene.noDescriptors))
      }
      if target.policy.statusRule == .localwifi { continue }
      expect(Judge.verdict(on: findings, of: target).status != .notReachable, findings)
    }
  }
}
