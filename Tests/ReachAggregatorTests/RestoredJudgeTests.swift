internal import ReachAggregator
internal import ReachCore
internal import Testing

/// A judge that goes on from what the agent's last run left, an hour after that status began.
private struct Resumed {
  var judge: TargetJudge
  var policy = TargetPolicy()
  var now: Int64 = 5_000_000_000
  let since: Int64

  private static let epoch: Int64 = 1_700_000_000_000_000_000
  private static let hour: Int64 = 3_600_000_000_000

  init(_ verdict: Verdict, age: Int64 = hour, _ edit: (inout TargetPolicy) -> Void = { _ in }) {
    edit(&policy)
    since = Self.epoch + now - age
    let state = TargetState(verdict: verdict, since: since, sequence: 7)
    judge = TargetJudge(
      restoring: state, rawChanges: 3, at: Instant(nanoseconds: now), wall: Self.epoch + now)
  }

  mutating func round(_ verdict: Verdict) -> TargetUpdate {
    now += 1_000_000_000
    return judge.absorb(verdict, under: policy, at: Instant(nanoseconds: now), wall: Self.epoch + now)
  }

  mutating func look(_ verdict: Verdict) -> TargetUpdate {
    now += 1_000_000_000
    return judge.absorb(look: verdict, under: policy, at: Instant(nanoseconds: now), wall: Self.epoch + now)
  }

  var state: TargetState { judge.state }
}

private func verdict(_ flags: String, _ reason: Reason, over interface: String = "eth0", index: Int32 = 2) -> Verdict {
  let path = ReachabilityPath(interface: interface, interfaceIndex: index)
  return Verdict(flags: ReachabilityFlags(description: flags), rule: .afnetworking, reason: reason, path: path)
}

private let open = verdict("-R -------", .tcpOpen)
private let timeout = verdict("-- -------", .tcpTimeout)
private let refused = verdict("-- -------", .tcpRefused)
private let lost = verdict("-- -------", .carrierLost)
private let fault = verdict("?? ???????", .probeError(Scene.noDescriptors))

extension TargetUpdate {
  fileprivate var initial: StatusChange? { if case .initial(let change) = events.first { change } else { nil } }
  fileprivate var changed: StatusChange? { if case .changed(let change) = events.first { change } else { nil } }
}

@Suite struct RestoredJudgeTests {
  @Test("a restored status is published as stale, with its number and its beginning")
  func published() {
    let run = Resumed(timeout)
    #expect(run.state.isStale)
    #expect(run.state.verdict == timeout)
    #expect(run.state.sequence == 7)
    #expect(run.state.since == run.since)
    #expect(run.judge.rawChanges == 3)
    #expect(!run.judge.isDamped)
  }

  @Test("evidence that bears it out is its first event, and no change")
  func borneOut() {
    for (old, new) in [(timeout, timeout), (timeout, refused), (open, open)] {
      var run = Resumed(old)
      let update = run.round(new)
      #expect(update.events.count == 1)
      #expect(update.initial?.sequence == 7)
      #expect(update.initial?.at == run.since)
      #expect(update.initial?.to == new)
      #expect(!run.state.isStale)
      #expect(run.state.since == run.since)
      #expect(run.state.sequence == 7)
      #expect(run.state.verdict == new)
      // Once is enough.
      #expect(run.round(new).events == [])
    }
  }

  @Test("evidence of another status is a change from it, which lasted since it began")
  func changed() {
    var run = Resumed(timeout)
    let change = run.round(open).changed
    #expect(change?.sequence == 8)
    #expect(change?.from == .notReachable)
    #expect(change?.inPrevious == .seconds(3_601))
    #expect(run.judge.rawChanges == 3, "nobody saw how often it changed meanwhile")
  }

  @Test("failures that need confirming move it as they move a known status, and it stays stale until then")
  func confirmed() {
    var run = Resumed(open) { $0.fall = 3 }
    for _ in 0..<2 {
      #expect(run.round(timeout).events == [])
      #expect(run.state.isStale)
      #expect(run.state.verdict == open)
    }
    #expect(run.round(timeout).changed?.from == .reachableViaWiFi)
    var back = Resumed(timeout) { $0.rise = 2 }
    #expect(back.round(open).events == [])
    #expect(back.round(open).changed?.sequence == 8)
  }

  @Test("a success between failures bears a reachable status out")
  func interrupted() {
    var run = Resumed(open) { $0.fall = 2 }
    #expect(run.round(timeout).events == [])
    #expect(run.round(open).initial?.sequence == 7)
    #expect(run.round(timeout).events == [])
    #expect(!run.state.isStale)
  }

  @Test("without evidence it turns Unknown after as many rounds as a known status does")
  func nothingSeen() {
    var run = Resumed(open) { $0.unknownAfter = 2 }
    #expect(run.round(fault).events == [])
    #expect(run.round(fault).events == [])
    #expect(run.state.isStale)
    let change = run.round(fault).changed
    #expect(change?.from == .reachableViaWiFi)
    #expect(change?.to.status == .unknown)
    #expect(change?.sequence == 8)
  }

  @Test("an Unknown status that stays so is borne out after the same rounds, and success is a change")
  func unknown() {
    var run = Resumed(fault) { $0.unknownAfter = 2 }
    #expect(run.round(fault).events == [])
    #expect(run.round(fault).events == [])
    #expect(run.round(fault).initial?.sequence == 7)
    #expect(run.round(fault).events == [])
    var other = Resumed(fault)
    #expect(other.round(open).changed?.from == .unknown)
  }

  @Test("a path verdict waits for hold as it does against a known status")
  func held() {
    var run = Resumed(open) { $0.hold = .seconds(2) }
    #expect(run.round(lost).events == [])
    #expect(run.state.isStale)
    #expect(run.round(open).initial?.sequence == 7)
    #expect(run.judge.holdEnds == nil)
  }

  @Test("a look at the path moves it where the path alone decides, and bears out no connection")
  func looked() {
    var run = Resumed(open)
    #expect(run.look(open).events == [])
    #expect(run.state.isStale)
    #expect(run.look(timeout).events == [])
    #expect(run.state.isStale)
    #expect(run.look(lost).changed?.from == .reachableViaWiFi)
    var path = Resumed(lost)
    #expect(path.look(lost).initial?.sequence == 7)
  }

  @Test("leaving by another interface than before the restart is a change of path, whatever its index")
  func path() {
    var same = Resumed(verdict("-R -------", .tcpOpen, index: 0))
    #expect(same.round(verdict("-R -------", .tcpOpen, index: 9)).events.count == 1)
    var other = Resumed(verdict("-R -------", .tcpOpen, index: 0))
    let events = other.round(verdict("-R -------", .tcpOpen, over: "eth1", index: 3)).events
    #expect(events.count == 2)
    if case .pathChanged(let from, let to) = events.last {
      #expect(from.interface == "eth0" && to.interface == "eth1")
    } else {
      Issue.record("no change of path: \(events)")
    }
  }

  @Test("a clock that was set back makes no time negative, and a state without a beginning is none")
  func clocks() {
    var run = Resumed(timeout, age: -3_600_000_000_000)
    #expect(run.round(open).changed?.inPrevious == .seconds(1))
    var ancient = Resumed(timeout, age: .max)
    #expect(ancient.round(open).changed?.inPrevious ?? .zero >= .zero)
    let fresh = TargetJudge(
      restoring: TargetState(verdict: timeout, sequence: 4), at: Instant(nanoseconds: 0), wall: 0)
    #expect(fresh.state == TargetState(sequence: 4))
  }
}
