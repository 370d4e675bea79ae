internal import ReachAggregator
internal import ReachCore
internal import Testing

/// What looks at the path between rounds do to a status.
@Suite struct PathLookTests {
  private static func verdict(_ flags: String, _ reason: Reason, over interface: String = "eth0") -> Verdict {
    Verdict(
      flags: ReachabilityFlags(description: flags), rule: .afnetworking, reason: reason,
      path: ReachabilityPath(interface: interface, interfaceIndex: Int32(interface.utf8.count)))
  }

  private static let open = verdict("-R -------", .tcpOpen)
  private static let openElsewhere = verdict("-R -------", .tcpOpen, over: "wlan00")
  private static let openOverWWAN = verdict("WR t------", .tcpOpen, over: "wwan00")
  private static let timeout = verdict("-- -------", .tcpTimeout)
  private static let lost = verdict("-- -------", .carrierLost)
  private static let routed = verdict("-R -------", .routeOK)
  private static let fault = verdict("?? ???????", .probeError(FaultCode(errno: 105)))

  private struct Run {
    var judge = TargetJudge()
    var policy = TargetPolicy()
    var now: Int64 = 0

    mutating func round(_ verdict: Verdict) -> TargetUpdate {
      now += 1_000_000_000
      return judge.absorb(verdict, under: policy, at: Instant(nanoseconds: now), wall: now)
    }

    mutating func look(_ verdict: Verdict, hasFlapped: Bool = false) -> TargetUpdate {
      now += 10_000_000
      return judge.absorb(
        look: verdict, hasFlapped: hasFlapped, under: policy, at: Instant(nanoseconds: now), wall: now)
    }

    mutating func drop() {
      now += 10_000_000
      let nothing = Verdict(flags: nil, rule: .afnetworking, reason: .notProbed)
      _ = judge.absorb(dropped: nothing, under: policy, at: Instant(nanoseconds: now), wall: now)
    }

    var status: Status { judge.state.verdict.status }
    var isStale: Bool { judge.state.isStale }
  }

  @Test("a broken path takes effect at once, whatever fall says")
  func broken() {
    var run = Run()
    run.policy.fall = 5
    _ = run.round(Self.open)
    #expect(run.look(Self.lost).events.count == 1)
    #expect(run.status == .notReachable)
  }

  @Test("once the path is there again the status is stale until a round: an earlier connection is no success")
  func restored() {
    var run = Run()
    _ = run.round(Self.open)
    _ = run.look(Self.lost)
    #expect(run.look(Self.open).events.isEmpty)
    #expect(run.status == .notReachable && run.isStale)
    #expect(run.round(Self.open).events.count == 1)
    #expect(run.status == .reachableViaWiFi && !run.isStale)
  }

  @Test("that the path is there again counts as well when no connection has been tried since it broke")
  func restoredUntried() {
    let untried = Self.verdict("?? ???????", .notProbed)
    var run = Run()
    _ = run.round(Self.open)
    _ = run.round(Self.lost)
    _ = run.look(untried)
    #expect(run.status == .notReachable && run.isStale)

    run = Run()
    run.policy.hold = .seconds(2)
    _ = run.round(Self.open)
    _ = run.round(Self.lost)
    #expect(run.status == .reachableViaWiFi && run.isStale)
    _ = run.look(untried)
    #expect(run.judge.holdEnds == nil && !run.isStale)
  }

  @Test("where the path alone decides, a look is as good as a round")
  func pathOnly() {
    var run = Run()
    _ = run.round(Self.routed)
    _ = run.look(Self.lost)
    #expect(run.status == .notReachable)
    _ = run.look(Self.routed)
    #expect(run.status == .reachableViaWiFi)
  }

  @Test("rounds that tell nothing are counted from the last look that told something")
  func blindRounds() {
    var run = Run()
    run.policy.unknownAfter = 2
    _ = run.round(Self.open)
    for _ in 0..<3 { _ = run.round(Self.fault) }
    #expect(run.status == .unknown)
    #expect(run.look(Self.lost).events.count == 1)
    for _ in 0..<2 { _ = run.round(Self.fault) }
    #expect(run.status == .notReachable && run.isStale)
    _ = run.round(Self.fault)
    #expect(run.status == .unknown)
  }

  @Test("looks neither confirm an earlier failure nor forget it")
  func failuresStand() {
    var run = Run()
    run.policy.fall = 2
    _ = run.round(Self.open)
    _ = run.round(Self.timeout)
    for _ in 0..<5 { _ = run.look(Self.timeout) }
    #expect(run.status == .reachableViaWiFi)
    for _ in 0..<5 { _ = run.look(Self.open) }
    _ = run.round(Self.timeout)
    #expect(run.status == .notReachable)
  }

  @Test("another egress interface is a change of path and no transition")
  func pathChanged() {
    var run = Run()
    _ = run.round(Self.open)
    let update = run.look(Self.openElsewhere)
    guard case .pathChanged(let from, let to)? = update.events.first, update.events.count == 1 else {
      Issue.record("expected one change of path, got \(update.events)")
      return
    }
    #expect(from.interface == "eth0" && to.interface == "wlan00")
    #expect(run.status == .reachableViaWiFi && !run.isStale)
  }

  @Test("a move to a cellular path is a change of status at once")
  func cellular() {
    var run = Run()
    _ = run.round(Self.open)
    _ = run.look(Self.openOverWWAN)
    #expect(run.status == .reachableViaWWAN)
  }

  @Test("a look that failed says nothing")
  func fault() {
    var run = Run()
    _ = run.round(Self.open)
    for _ in 0..<20 { #expect(run.look(Self.fault) == .none) }
    #expect(run.status == .reachableViaWiFi && !run.isStale)
  }

  @Test("within hold a path that comes back contradicts the verdict that waits")
  func hold() {
    var run = Run()
    run.policy.hold = .seconds(2)
    _ = run.round(Self.open)
    _ = run.look(Self.lost)
    #expect(run.status == .reachableViaWiFi && run.isStale && run.judge.isDamped)
    _ = run.look(Self.open)
    #expect(run.judge.holdEnds == nil && !run.isStale)
    #expect(run.status == .reachableViaWiFi)
  }

  @Test("a link that came and went within hold has its time begin anew")
  func flappedWithinHold() {
    var run = Run()
    run.policy.hold = .milliseconds(15)
    _ = run.round(Self.open)
    _ = run.look(Self.lost)
    for _ in 0..<10 {
      #expect(run.look(Self.lost, hasFlapped: true).events.isEmpty)
      #expect(run.status == .reachableViaWiFi && run.isStale)
    }
    _ = run.look(Self.lost)
    _ = run.look(Self.lost)
    #expect(run.status == .notReachable)
  }

  @Test("rounds that are dropped leave a connection unconfirmed: the status is stale, then Unknown")
  func droppedRounds() {
    var run = Run()
    run.policy.unknownAfter = 3
    _ = run.round(Self.open)
    for _ in 0..<3 {
      run.drop()
      _ = run.look(Self.openElsewhere)
      #expect(run.status == .reachableViaWiFi && run.isStale)
    }
    run.drop()
    #expect(run.status == .unknown)
  }

  @Test("a dropped round takes nothing from a status that rests on the path")
  func droppedBesidePath() {
    var run = Run()
    _ = run.round(Self.open)
    _ = run.look(Self.lost)
    for _ in 0..<10 { run.drop() }
    #expect(run.status == .notReachable && !run.isStale)
  }

  @Test("raw changes are counted whether the status follows or not")
  func rawChanges() {
    var run = Run()
    run.policy.fall = 3
    _ = run.round(Self.open)
    for _ in 0..<4 {
      _ = run.round(Self.timeout)
      #expect(run.judge.isDamped)
      _ = run.round(Self.open)
      #expect(!run.judge.isDamped)
    }
    #expect(run.judge.rawChanges == 8)
    #expect(run.judge.state.sequence == 1)
  }
}
