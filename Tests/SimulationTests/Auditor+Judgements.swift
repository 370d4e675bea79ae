import ReachCore

@testable import ReachAggregator
@testable import ReachMetrics
@testable import ReachNetlink
@testable import ReachScheduler

extension Auditor {
  /// A target was judged.
  func judged(
    _ tag: Int, from origin: Origin, _ before: TargetJudge, _ update: TargetUpdate, _ after: TargetJudge,
    at time: Int64, wall: Int64
  ) {
    now = time
    weigh(origin, tag, before)
    if trace != nil {
      let state = after.state
      note(
        "\(books[tag].target.name) \(origin) -> \(state.verdict.status) \(state.verdict.reason)"
          + "\(state.isStale ? " stale" : "") \(update.events.count) events")
    }
    checkState(tag, after)
    if before.state != after.state, !update.isStateChanged { fail(tag, "a change is kept secret") }
    for event in update.events { take(event, tag, origin, before, after, wall) }
    if books[tag].status != after.state.verdict.status, after.state.since != nil {
      fail(tag, "the status is \(after.state.verdict.status) without an event")
    }
    if books[tag].sequence != after.state.sequence { fail(tag, "sequence \(after.state.sequence) without an event") }
  }

  /// Keeps the auditor's own count of what evidence has said.
  private func weigh(_ origin: Origin, _ tag: Int, _ before: TargetJudge) {
    switch origin {
    case .round(_, let verdict):
      if !books[tag].isReady, verdict.weight != .none {
        books[tag].isReady = true
        books[tag].readyAt = now
      }
      books[tag].blindRounds = verdict.weight == .none ? books[tag].blindRounds + 1 : 0
      switch verdict.weight {
      case .success: (books[tag].failures, books[tag].pathFailedSince) = (0, nil)
      case .tentative:
        books[tag].failures += 1
        books[tag].pathFailedSince = nil
      case .path: books[tag].pathFailedSince = books[tag].pathFailedSince ?? now
      case .final: books[tag].pathFailedSince = nil
      case .none: break
      }
    case .look(let verdict):
      guard verdict.weight != .none || verdict.hasClearPath else { return }
      guard verdict.restsOnPathAlone, verdict.weight != .none else { return books[tag].pathFailedSince = nil }
      books[tag].blindRounds = 0
      switch verdict.weight {
      case .success: (books[tag].failures, books[tag].pathFailedSince) = (0, nil)
      case .path: books[tag].pathFailedSince = books[tag].pathFailedSince ?? now
      case .tentative, .final, .none: break
      }
    case .skip: books[tag].blindRounds += 1
    case .dropped:
      let stands = before.state.verdict
      if stands.status == .unknown || !stands.restsOnPathAlone { books[tag].blindRounds += 1 }
    case .hold: break
    }
  }

  private func checkState(_ tag: Int, _ judge: TargetJudge) {
    let verdict = judge.state.verdict
    if verdict.status != books[tag].target.policy.statusRule.status(of: verdict.flags) {
      fail(tag, "\(verdict.status) is not what \(verdict.flags.map(\.description) ?? "nothing") comes to")
    }
    if (verdict.status == .unknown) != (verdict.flags == nil) { fail(tag, "Unknown with flags, or known without") }
    let isOurs = verdict.reason.layer == .local || verdict.reason.layer == .config
    if isOurs, verdict.flags != nil { fail(tag, "\(verdict.status) for \(verdict.reason)") }
    if !isOurs, verdict.flags == nil, judge.state.since != nil, verdict.weight != .none {
      fail(tag, "Unknown for \(verdict.reason)")
    }
    if verdict.status.isReachable != verdict.reason.isGood(for: books[tag].target.policy), verdict.flags != nil {
      fail(tag, "\(verdict.status) for \(verdict.reason)")
    }
  }

  private func take(
    _ event: TargetEvent, _ tag: Int, _ origin: Origin, _ before: TargetJudge, _ after: TargetJudge, _ wall: Int64
  ) {
    digest(event, tag)
    switch event {
    case .initial(let change):
      note("\(books[tag].target.name) INITIAL \(change.to.status) \(change.to.reason)")
      if change.from != nil || change.inPrevious != nil { fail(tag, "something before the first status") }
      if books[tag].isRestored {
        bearOut(change, tag)
      } else {
        if books[tag].began != nil { fail(tag, "a second first status") }
        begin(change, tag, wall)
      }
    case .changed(let change):
      note("\(books[tag].target.name) CHANGED \(change.to.status) \(change.to.reason)")
      guard let began = books[tag].began else { return fail(tag, "a change before the first status") }
      if change.from != books[tag].status { fail(tag, "from \(String(describing: change.from))") }
      if change.to.status == books[tag].status { fail(tag, "a change to the same status") }
      if change.inPrevious?.nanoseconds != now - began { fail(tag, "lasted \(String(describing: change.inPrevious))") }
      tally.transitions += 1
      checkEvidence(change, tag, origin)
      books[tag].isRestored = false
      books[tag].transitions[change.to.status, default: 0] += 1
      begin(change, tag, wall)
    case .flagsChanged(let flags, let verdict):
      if flags == verdict.flags { fail(tag, "flags changed to the same") }
    case .pathChanged(let from, let to):
      if from == to { fail(tag, "the path changed to the same") }
    }
  }

  /// A status from before a restart goes on, as if there had been none.
  private func bearOut(_ change: StatusChange, _ tag: Int) {
    books[tag].isRestored = false
    if change.sequence != books[tag].sequence { fail(tag, "number \(change.sequence) after a restart") }
    if change.to.status != books[tag].status { fail(tag, "\(change.to.status) without a change") }
    if change.at != books[tag].since { fail(tag, "begins anew with a restart") }
  }

  private func begin(_ change: StatusChange, _ tag: Int, _ wall: Int64) {
    if change.sequence != books[tag].sequence + 1 { fail(tag, "sequence \(change.sequence)") }
    if change.at != wall { fail(tag, "at the wrong time") }
    books[tag].sequence = change.sequence
    books[tag].status = change.to.status
    books[tag].began = now
    books[tag].since = change.at
  }

  // MARK: Evidence

  /// No transition without evidence: the world must have shown what is said of it, and damping must have been heeded.
  private func checkEvidence(_ change: StatusChange, _ tag: Int, _ origin: Origin) {
    let book = books[tag]
    let policy = book.target.policy
    if trouble.isEmpty { fail(tag, "\(change.to.status), \(change.to.reason) in a world without trouble") }
    switch change.to.status {
    case .unknown:
      if trouble.isDisjoint(with: .ownFaults) { fail(tag, "Unknown, \(change.to.reason), in a host without faults") }
      if book.blindRounds <= policy.unknownAfter { fail(tag, "Unknown after \(book.blindRounds) blind rounds") }
    case .notReachable:
      if book.isGood, book.lastBadAt < seen(change.to, origin) {
        fail(tag, "NotReachable, \(change.to.reason), though all is well")
      }
      if change.to.weight == .tentative, book.failures < policy.fall {
        fail(tag, "NotReachable after \(book.failures) failures")
      }
      if change.to.weight == .path, change.from?.isReachable == true, policy.hold > .zero {
        guard let since = book.pathFailedSince, now - since >= policy.hold.nanoseconds else {
          return fail(tag, "NotReachable without having waited")
        }
      }
    case .reachableViaWiFi, .reachableViaWWAN:
      if case .host = book.target.kind { return }
      if book.lastGoodAt < seen(change.to, origin), !book.isGood { fail(tag, "\(change.to.status) though it is not") }
    }
  }

  /// Since when at the latest the world must have been as the verdict says. A connection tells of the time of its round;
  /// what is known of the path may be a few seconds old.
  private func seen(_ verdict: Verdict, _ origin: Origin) -> Int64 {
    var age = RouteMemoryModel.lifetime + Time.second
    if !trouble.isDisjoint(with: [.loss, .faults, .stall]) { age += 60 * Time.second }
    switch origin {
    case .round(let start, let verdict) where verdict.weight == .tentative: return start.nanoseconds
    case .round(let start, _): return start.nanoseconds - age
    case .look, .skip, .dropped: return now - age
    // A path that is there again ends the wait as soon as that has been told of.
    case .hold:
      let isPrompt = trouble.isDisjoint(with: [.loss, .faults, .stall, .suspend, .secrets])
      return now - (isPrompt ? detection + Time.second / 10 : 2 * age)
    }
  }

  private func digest(_ event: TargetEvent, _ tag: Int) {
    let words: [UInt64]
    switch event {
    case .initial(let change), .changed(let change):
      let reason = change.to.reason.description.utf8.reduce(UInt64(7)) { $0 &* 31 &+ UInt64($1) }
      words = [1, change.sequence, UInt64(change.to.status.rawValue.utf8.count), reason]
    case .flagsChanged(let flags, let to): words = [2, UInt64(flags.rawValue), UInt64(to.flags?.rawValue ?? 0)]
    case .pathChanged(let from, let to):
      words = [3, UInt64(UInt32(bitPattern: from.interfaceIndex)), UInt64(UInt32(bitPattern: to.interfaceIndex))]
    }
    for word in words + [UInt64(bitPattern: elapsed)] { digests[tag] = (digests[tag] ^ word) &* 0x0000_0100_0000_01b3 }
  }

  // MARK: The end

  /// What must hold once everything has been in order for long enough.
  func checkEnd(_ agent: MiniatureAgent) {
    now = agent.now
    for (tag, standing) in agent.standings.enumerated() {
      let state = standing.judge.state
      if !state.verdict.status.isReachable { fail(tag, "is still \(state.verdict.status), \(state.verdict.reason)") }
      if state.isStale { fail(tag, "is still stale") }
      if standing.judge.isDamped { fail(tag, "is still damped") }
      checkCounts(standing, tag)
      let book = books[tag]
      let isRunning = agent.rounds.contains { $0.tag == tag }
      if book.started != book.ended + (isRunning ? 1 : 0) { fail(tag, "\(book.started) rounds, \(book.ended) ends") }
      if book.givenUp != 0 { fail(tag, "a round that was given up has not ended") }
    }
    if !causes.isEmpty || !assigned.isEmpty { fail(nil, "\(causes.values) are still at fault") }
    if !world.isHeard || agent.monitor.nextRead != nil { fail(nil, "the monitor is not at rest") }
    let known = agent.monitor.table.links.values.sorted { $0.index < $1.index }
    if known != world.table.sorted(by: { $0.index < $1.index }) { fail(nil, "the table is not the kernel's") }
    let counts = agent.core.counts
    if counts.started != UInt64(books.reduce(0) { $0 + $1.started } - roundsBefore) {
      fail(nil, "rounds are miscounted")
    }
  }

  private func checkCounts(_ standing: Standing, _ tag: Int) {
    var spent: Int64 = 0
    for status in Status.allCases {
      spent += standing.series.nanoseconds(in: status, at: Instant(nanoseconds: now))
      let counted = standing.series.transitions[status]
      let logged = books[tag].transitions[status] ?? 0
      if counted != logged { fail(tag, "\(counted) transitions to \(status) are counted, \(logged) logged") }
    }
    let accounted = books[tag].accounted
    let expected = accounted.before + now - accounted.from
    if spent != expected { fail(tag, "\(spent) ns are accounted for of \(expected)") }
    let changes = books[tag].transitions.values.reduce(0, +)
    if books[tag].sequence != UInt64(changes) + 1 { fail(tag, "sequence \(books[tag].sequence), \(changes) changes") }
    if standing.series.isFlapping != standing.judge.isDamped { fail(tag, "flapping is not what the judge says") }
    if standing.series.rawChanges != standing.judge.rawChanges { fail(tag, "raw changes are not what the judge says") }
  }
}

extension Reason {
  /// Whether it is why something can be reached.
  fileprivate func isGood(for policy: TargetPolicy) -> Bool {
    switch self {
    case .tcpOpen, .routeOK, .localAddress, .interfaceUp, .dnsStale, .onTraffic, .onDemand: true
    case .tcpRefused: policy.tcp == .host
    default: false
    }
  }
}
