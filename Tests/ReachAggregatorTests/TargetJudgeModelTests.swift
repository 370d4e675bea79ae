internal import ReachAggregator
internal import ReachCore
internal import Testing

@Suite struct TargetJudgeModelTests {
  private static let verdicts: [Verdict] = {
    let wired = ReachabilityPath(interface: "eth0", interfaceIndex: 2, medium: .wired)
    let wireless = ReachabilityPath(interface: "wlan0", interfaceIndex: 3, medium: .wifi)
    let rows: [(String, Reason, ReachabilityPath)] = [
      ("-R -------", .tcpOpen, wired), ("-R -------", .tcpOpen, wireless), ("-R ------d", .tcpOpen, wired),
      ("WR t------", .tcpOpen, ReachabilityPath(interface: "wwan0", interfaceIndex: 4, medium: .wwan)),
      ("-- -------", .tcpTimeout, wired), ("-- -------", .tcpRefused, wired), ("-- -------", .dnsTimeout, wireless),
      ("-- -------", .dnsNXDomain, wired), ("-- -------", .carrierLost, wired),
      ("-- -------", .noRoute, ReachabilityPath()), ("-R -c-i---", .captivePortal, wired),
      ("?? ???????", .probeError(FaultCode(errno: 24)), wired), ("?? ???????", .dnsPending, ReachabilityPath()),
    ]
    return rows.map {
      Verdict(flags: ReachabilityFlags(description: $0.0), rule: .afnetworking, reason: $0.1, path: $0.2)
    }
  }()

  /// What the steps so far came to, told from outside.
  private struct Ledger {
    var initials = 0
    var changes = 0
    var seenFailures: Set<Reason> = []
    var blindRounds = 0
    var failures = 0
    var total = Duration.zero
  }

  @Test("Whatever verdicts come in whatever order, a target's state and its events agree", arguments: 0..<40)
  func agreement(_ seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    var policy = TargetPolicy()
    policy.fall = random.pick([1, 2, 3])
    policy.rise = random.pick([1, 2, 3])
    policy.unknownAfter = random.pick([1, 3])
    policy.hold = random.pick([.zero, .seconds(3)])
    var judge = TargetJudge()
    var ledger = Ledger()
    var now = Instant(nanoseconds: 0)
    var verdict = Self.verdicts[0]
    for _ in 0..<1_000 {
      if random.once(in: 2) { verdict = random.pick(Self.verdicts) }
      now = now.advanced(by: random.pick([.zero, .milliseconds(1), .seconds(1), .seconds(2)]))
      let before = judge
      let isRound = !random.once(in: 8)
      let update =
        isRound
        ? judge.absorb(verdict, under: policy, at: now, wall: now.nanoseconds)
        : judge.elapse(at: now, wall: now.nanoseconds)
      if isRound { record(verdict, in: &ledger) }
      check(judge.state, against: before.state, update, &ledger)
      if let change = update.change, let began = before.began {
        expect(change.inPrevious == now.since(began))
      }
      checkPatience(judge, policy, ledger)
    }
    #expect(ledger.initials == 1)
    #expect(judge.state.sequence == UInt64(ledger.changes + 1))
  }

  private func record(_ verdict: Verdict, in ledger: inout Ledger) {
    ledger.blindRounds = verdict.flags == nil ? ledger.blindRounds + 1 : 0
    if verdict.status == .notReachable { ledger.seenFailures.insert(verdict.reason) }
    switch verdict.reason {
    case .tcpTimeout, .tcpRefused, .dnsTimeout: ledger.failures += 1
    default: if verdict.status.isReachable { ledger.failures = 0 }
    }
  }

  /// One step: nothing without a change, no change without its event, and numbers that count changes.
  private func check(
    _ after: TargetState, against before: TargetState, _ update: TargetUpdate, _ ledger: inout Ledger
  ) {
    expect(after.verdict.status == StatusRule.afnetworking.status(of: after.verdict.flags))
    expect(update.isStateChanged == (after != before))
    if !update.isStateChanged { expect(update.events.isEmpty) }
    expect(!after.isStale || after.verdict.status != .unknown)
    if after.verdict.status == .notReachable { expect(ledger.seenFailures.contains(after.verdict.reason)) }

    let isInitial = before.since == nil && after.since != nil
    let isChange = before.since != nil && after.verdict.status != before.verdict.status
    expect(after.sequence == before.sequence + (isInitial || isChange ? 1 : 0))
    if isInitial { ledger.initials += 1 }
    if isChange { ledger.changes += 1 }
    for (place, event) in update.events.enumerated() {
      switch event {
      case .initial(let change):
        expect(isInitial && place == 0 && change.from == nil && change.inPrevious == nil)
        expect(change.to == after.verdict && change.sequence == after.sequence && change.at == after.since)
      case .changed(let change):
        expect(isChange && place == 0 && change.from == before.verdict.status)
        expect(change.to == after.verdict && change.sequence == after.sequence && change.at == after.since)
      case .flagsChanged(let from, let to):
        expect(!isInitial && !isChange && place == 0)
        expect(from == before.verdict.flags && to == after.verdict && from != to.flags)
      case .pathChanged(let from, let to):
        expect(place == update.events.count - 1)
        expect(from.interfaceIndex != to.interfaceIndex && to == after.verdict.path)
      }
    }
    expect((update.change != nil) == (isInitial || isChange))
  }

  /// Nothing is held longer than the policy allows.
  private func checkPatience(_ judge: TargetJudge, _ policy: TargetPolicy, _ ledger: Ledger) {
    if ledger.blindRounds > policy.unknownAfter + 1 { expect(judge.state.verdict.status != .reachableViaWiFi) }
    if ledger.failures >= policy.fall, ledger.blindRounds == 0, judge.holdEnds == nil {
      expect(!judge.state.verdict.status.isReachable)
    }
    if judge.holdEnds != nil { expect(judge.state.isStale && policy.hold > .zero) }
  }
}

extension TargetUpdate {
  /// The change of status, the first one included.
  fileprivate var change: StatusChange? {
    switch events.first {
    case .initial(let change), .changed(let change): change
    case .flagsChanged, .pathChanged, nil: nil
    }
  }
}
