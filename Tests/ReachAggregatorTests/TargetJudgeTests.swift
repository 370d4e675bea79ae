internal import ReachAggregator
internal import ReachCore
internal import Testing

/// A judge on a clock that the test turns.
private struct Run {
  var judge = TargetJudge()
  var policy = TargetPolicy()
  var now: Int64 = 0

  init(_ edit: (inout TargetPolicy) -> Void = { _ in }) { edit(&policy) }

  /// One round, a second after the one before.
  @discardableResult
  mutating func round(_ verdict: Verdict, after seconds: Int64 = 1) -> TargetUpdate {
    now += seconds * 1_000_000_000
    return judge.absorb(verdict, under: policy, at: Instant(nanoseconds: now), wall: Self.epoch + now)
  }

  mutating func elapse(after seconds: Int64) -> TargetUpdate {
    now += seconds * 1_000_000_000
    return judge.elapse(at: Instant(nanoseconds: now), wall: Self.epoch + now)
  }

  var status: Status { judge.state.verdict.status }
  var reason: Reason { judge.state.verdict.reason }
  var isStale: Bool { judge.state.isStale }

  static let epoch: Int64 = 1_700_000_000_000_000_000
}

extension TargetUpdate {
  /// The kinds of the events, such as `changed`.
  fileprivate var kinds: [String] {
    events.map { event in
      switch event {
      case .initial: "initial"
      case .changed: "changed"
      case .flagsChanged: "flags"
      case .pathChanged: "path"
      }
    }
  }
}

private func verdict(_ flags: String, _ reason: Reason, over interface: String = "eth0") -> Verdict {
  let path = ReachabilityPath(interface: interface, interfaceIndex: interface.isEmpty ? 0 : Int32(interface.utf8.count))
  return Verdict(flags: ReachabilityFlags(description: flags), rule: .afnetworking, reason: reason, path: path)
}

private let open = verdict("-R -------", .tcpOpen)
private let timeout = verdict("-- -------", .tcpTimeout)
private let refused = verdict("-- -------", .tcpRefused)
private let lost = verdict("-- -------", .carrierLost)
private let noRoute = verdict("-- -------", .noRoute, over: "")
private let nxdomain = verdict("-- -------", .dnsNXDomain)
private let servfail = verdict("-- -------", .dnsServFail)
private let fault = verdict("?? ???????", .probeError(Scene.noDescriptors))

@Suite struct TargetJudgeTests {
  // MARK: The first status

  @Test("Before the first round a target is Unknown and has no status to tell the time of")
  func beforeTheFirst() {
    let judge = TargetJudge()
    #expect(judge.state == TargetState())
    #expect(judge.state.verdict.reason == .notProbed)
    #expect(judge.began == nil)
    #expect(judge.holdEnds == nil)
  }

  @Test(
    "The first verdict is the initial status at once, and no transition", arguments: [open, lost, noRoute, nxdomain])
  func initial(_ first: Verdict) {
    var run = Run { $0.hold = .seconds(10) }
    let update = run.round(first)
    let change = StatusChange(sequence: 1, at: Run.epoch + run.now, from: nil, to: first, inPrevious: nil)
    #expect(update == TargetUpdate(isStateChanged: true, events: [.initial(change)]))
    #expect(run.judge.state == TargetState(verdict: first, since: Run.epoch + run.now, sequence: 1))
  }

  @Test("A first failure that needs confirming leaves the target Unknown, by its reason, until it has been confirmed")
  func initialFailure() {
    var run = Run { $0.fall = 3 }
    for _ in 0..<2 {
      #expect(run.round(timeout).events.isEmpty)
      #expect(run.status == .unknown)
      #expect(run.reason == .tcpTimeout)
      #expect(run.judge.state.verdict.flags == nil)
    }
    #expect(run.round(timeout).kinds == ["initial"])
    #expect(run.status == .notReachable)
  }

  @Test("With fall 1 the first failure is the initial status")
  func initialFailureAtOnce() {
    var run = Run { $0.fall = 1 }
    #expect(run.round(timeout).kinds == ["initial"])
  }

  @Test("A target that stays Unknown says so once patience is over, and what follows is a transition")
  func initiallyUnknown() {
    var run = Run { $0.unknownAfter = 2 }
    #expect(run.round(fault).events.isEmpty)
    #expect(run.reason == .probeError(Scene.noDescriptors))
    #expect(run.round(fault).events.isEmpty)
    #expect(run.round(fault).kinds == ["initial"])
    #expect(!run.round(fault).isStateChanged)
    #expect(run.round(open).kinds == ["changed"])
    #expect(run.judge.state.sequence == 2)
  }

  @Test("What waiting cannot mend is the initial status at once", arguments: [Reason.badTarget, .backendMissing])
  func initiallyHopeless(_ reason: Reason) {
    var run = Run()
    #expect(run.round(verdict("?? ???????", reason)).kinds == ["initial"])
  }

  // MARK: fall and rise

  @Test("fall failures of tcp in a row turn a target NotReachable, and not one less", arguments: [timeout, refused])
  func fall(_ failure: Verdict) {
    var run = Run { $0.fall = 3 }
    run.round(open)
    for _ in 0..<2 {
      #expect(run.round(failure) == .none)
      #expect(run.status == .reachableViaWiFi)
      #expect(!run.isStale)
    }
    #expect(run.round(failure).kinds == ["changed"])
    #expect(run.status == .notReachable)
  }

  @Test("A success between failures starts their count again")
  func successResets() {
    var run = Run()
    for _ in 0..<4 {
      run.round(open)
      run.round(timeout)
      #expect(run.status == .reachableViaWiFi)
    }
  }

  @Test("A fault of this host between two failures neither counts nor breaks the row")
  func faultBetweenFailures() {
    var run = Run()
    run.round(open)
    run.round(timeout)
    run.round(fault)
    #expect(run.status == .reachableViaWiFi)
    #expect(run.isStale)
    #expect(run.round(timeout).kinds == ["changed"])
    #expect(!run.isStale)
  }

  @Test("Failures of DNS that may pass need confirming; the word of a name server does not")
  func dnsFailures() {
    var run = Run()
    run.round(open)
    run.round(servfail)
    #expect(run.status == .reachableViaWiFi)
    run.round(servfail)
    #expect(run.status == .notReachable)
    for final in [nxdomain, verdict("-- -------", .dnsNoData)] {
      var run = Run { $0.hold = .seconds(60) }
      run.round(open)
      #expect(run.round(final).kinds == ["changed"])
    }
  }

  @Test("A neighbour that does not answer needs confirming like the failed connection it explains")
  func neighbour() {
    var run = Run()
    run.round(open)
    run.round(verdict("-- -------", .neighbourFailed))
    #expect(run.status == .reachableViaWiFi)
  }

  @Test("Link and route verdicts act at once", arguments: [lost, noRoute])
  func pathActsAtOnce(_ failure: Verdict) {
    var run = Run { $0.fall = 5 }
    run.round(open)
    #expect(run.round(failure).kinds == ["changed"])
  }

  @Test("rise successes in a row bring a target back, whatever took it down", arguments: [timeout, lost, nxdomain])
  func rise(_ failure: Verdict) {
    var run = Run { ($0.rise, $0.fall) = (3, 1) }
    run.round(open)
    run.round(failure)
    run.round(open)
    run.round(open)
    run.round(failure)
    for _ in 0..<2 {
      #expect(run.round(open).events.isEmpty)
      #expect(run.status == .notReachable)
    }
    #expect(run.round(open).kinds == ["changed"])
  }

  @Test("Within NotReachable the reason follows the latest failure, without a transition")
  func reasonMoves() {
    var run = Run { $0.fall = 2 }
    run.round(lost)
    let update = run.round(timeout)
    #expect(update == TargetUpdate(isStateChanged: true, events: []))
    #expect(run.reason == .tcpTimeout)
    #expect(run.judge.state.sequence == 1)
    #expect(run.judge.state.since == Run.epoch + 1_000_000_000)
  }

  // MARK: Local faults

  @Test("A fault of this host leaves the status standing as stale for unknown_after rounds, then it is Unknown")
  func stale() {
    for first in [open, lost] {
      var run = Run { $0.unknownAfter = 3 }
      run.round(first)
      #expect(run.round(fault) == TargetUpdate(isStateChanged: true, events: []))
      run.round(fault)
      #expect(!run.round(fault).isStateChanged)
      #expect(run.judge.state.verdict == first)
      #expect(run.isStale)
      #expect(run.round(fault).kinds == ["changed"])
      #expect(run.status == .unknown)
      #expect(!run.isStale)
    }
  }

  @Test("Fresh evidence ends staleness and starts its patience again")
  func freshEvidence() {
    var run = Run { $0.unknownAfter = 1 }
    run.round(open)
    for _ in 0..<3 {
      run.round(fault)
      #expect(run.isStale)
      #expect(run.round(open) == TargetUpdate(isStateChanged: true, events: []))
      #expect(!run.isStale)
    }
  }

  @Test("From Unknown the first success or path verdict decides, and a failure of tcp waits to be confirmed")
  func fromUnknown() {
    for (next, kinds) in [(open, ["changed"]), (lost, ["changed"]), (timeout, [])] {
      var run = Run { ($0.unknownAfter, $0.rise, $0.hold) = (1, 4, .seconds(60)) }
      run.round(open)
      run.round(fault)
      run.round(fault)
      #expect(run.round(next).kinds == kinds)
      #expect((run.status == .unknown) == kinds.isEmpty)
    }
  }

  // MARK: hold

  @Test("With hold a path verdict has to last; until then the status stands as stale")
  func hold() {
    var run = Run { $0.hold = .seconds(5) }
    run.round(open)
    #expect(run.round(lost) == TargetUpdate(isStateChanged: true, events: []))
    #expect(run.status == .reachableViaWiFi)
    #expect(run.isStale)
    #expect(run.judge.holdEnds == Instant(nanoseconds: run.now + 5_000_000_000))
    run.round(noRoute, after: 2)
    #expect(run.status == .reachableViaWiFi)
    #expect(run.round(lost, after: 3).kinds == ["changed"])
    #expect(run.judge.holdEnds == nil)
    #expect(!run.isStale)
  }

  @Test("When hold ends between rounds, the latest path verdict is published then")
  func holdElapses() {
    var run = Run { $0.hold = .seconds(5) }
    run.round(open)
    run.round(lost)
    run.round(noRoute)
    #expect(run.elapse(after: 3) == .none)
    #expect(run.elapse(after: 1).kinds == ["changed"])
    #expect(run.reason == .noRoute)
    #expect(run.elapse(after: 9) == .none)
  }

  @Test("A path that comes back within hold has never been away", arguments: [open, timeout])
  func holdContradicted(_ contrary: Verdict) {
    var run = Run { $0.hold = .seconds(5) }
    run.round(open)
    run.round(lost)
    #expect(run.round(contrary, after: 4) == TargetUpdate(isStateChanged: true, events: []))
    #expect(!run.isStale)
    #expect(run.judge.holdEnds == nil)
    run.round(lost)
    #expect(run.round(lost, after: 4).events.isEmpty)
    #expect(run.round(lost).kinds == ["changed"])
  }

  @Test("A fault of this host does not end a hold, and a hold that has run out is not held up by one")
  func holdThroughFaults() {
    var run = Run { $0.hold = .seconds(5) }
    run.round(open)
    run.round(lost)
    #expect(run.round(fault).events.isEmpty)
    #expect(run.round(fault, after: 9).kinds == ["changed"])
    #expect(run.reason == .carrierLost)
  }

  @Test("Recovery does not wait for hold, nor does a change of medium")
  func holdIsForFailures() {
    var run = Run { $0.hold = .seconds(60) }
    run.round(lost)
    #expect(run.round(open).kinds == ["changed"])
    #expect(run.round(verdict("WR t------", .tcpOpen, over: "wwan0")).kinds == ["changed", "path"])
  }

  // MARK: Events

  @Test("A change tells what was, for how long, and counts on")
  func change() {
    var run = Run()
    run.round(open)
    run.round(open, after: 90)
    let update = run.round(lost, after: 10)
    let change = StatusChange(
      sequence: 2, at: Run.epoch + run.now, from: .reachableViaWiFi, to: lost, inPrevious: .seconds(100))
    #expect(update.events == [.changed(change)])
    #expect(run.judge.began == Instant(nanoseconds: run.now))
  }

  @Test("Rounds that agree are silent")
  func silence() {
    var run = Run()
    run.round(open)
    for _ in 0..<5 { #expect(run.round(open) == .none) }
  }

  @Test("Other flags under the same status are told as that, and take no number")
  func flagsChange() {
    var run = Run()
    run.round(open)
    let direct = verdict("-R ------d", .tcpOpen)
    let update = run.round(direct)
    #expect(update.events == [.flagsChanged(from: .reachable, to: direct)])
    #expect(run.judge.state.sequence == 1)
  }

  @Test("Another egress interface under the same status is a change of path")
  func pathChange() {
    var run = Run()
    run.round(open)
    let wireless = verdict("-R -------", .tcpOpen, over: "wlan0")
    let events = run.round(wireless).events
    #expect(events == [.pathChanged(from: ReachabilityPath(interface: "eth0", interfaceIndex: 4), to: wireless.path)])
    #expect(run.round(wireless).events.isEmpty)
  }

  @Test("The egress interface is compared across an outage, and the way to a resolver is none")
  func pathAcrossOutage() {
    var run = Run { $0.fall = 1 }
    run.round(open)
    #expect(run.round(noRoute).kinds == ["changed"])
    #expect(run.round(open).kinds == ["changed"])
    #expect(run.round(verdict("-- -------", .dnsServFail, over: "tun10")).kinds == ["changed"])
    #expect(run.round(verdict("-R -------", .tcpOpen, over: "wlan0")).kinds == ["changed", "path"])
    #expect(run.round(verdict("-- -------", .tcpTimeout, over: "enp1s0")).kinds == ["changed", "path"])
  }

  @Test("A renamed interface is the same one")
  func renamed() {
    var run = Run()
    run.round(open)
    #expect(run.round(verdict("-R -------", .tcpOpen, over: "lan0")) == TargetUpdate(isStateChanged: true, events: []))
  }

  @Test("Counting goes on where an earlier run of the agent left off")
  func restored() {
    var run = Run()
    run.judge = TargetJudge(sequence: 41)
    run.round(open)
    #expect(run.judge.state.sequence == 42)
  }

  @Test("A clock that stands still or runs back makes no negative duration")
  func clockRunsBack() throws {
    var run = Run()
    run.round(open)
    let event = try #require(run.round(lost, after: -5).events.first)
    guard case .changed(let change) = event else {
      Issue.record("\(event)")
      return
    }
    #expect(change.inPrevious == .zero)
  }

  @Test("Beyond what it publishes, a judge remembers little")
  func size() {
    #expect(MemoryLayout<TargetJudge>.size - MemoryLayout<TargetState>.size <= 96)
  }
}
