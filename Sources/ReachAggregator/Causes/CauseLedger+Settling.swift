public import ReachCore

/// What holds, and what is told of it.
extension CauseLedger {
  /// The next moment to settle at, if nothing is judged before.
  public var nextSettle: Instant? { waiting.lazy.compactMap { faults[$0].due }.min() }

  /// What came of the judgements since the last time.
  public mutating func settle(at now: Instant) -> [CauseChange] {
    if touched.isEmpty, waiting.isEmpty, changes.isEmpty { return [] }
    review(at: now)
    announceDue(at: now)
    return takeChanges()
  }

  /// What came of a sweep over many targets, with which every direct cause has been seen as far as it reaches.
  public mutating func endSweep(at now: Instant) -> [CauseChange] {
    if touched.isEmpty, waiting.isEmpty, changes.isEmpty { return [] }
    review(at: now)
    for fault in waiting where faults[fault].direct > 0 && faults[fault].due != nil { faults[fault].due = now }
    announceDue(at: now)
    return takeChanges()
  }

  private mutating func takeChanges() -> [CauseChange] {
    defer { changes = [] }
    return changes
  }

  // MARK: Holding

  /// Looks at every fault that something happened to. To clear one may touch others, never the same again.
  private mutating func review(at now: Instant) {
    var next = 0
    while next < touched.count {
      let fault = touched[next]
      next += 1
      faults[fault].isTouched = false
      review(fault, at: now)
    }
    touched.removeAll(keepingCapacity: true)
  }

  private mutating func review(_ fault: Int, at now: Instant) {
    if faults[fault].isAnnounced {
      if faults[fault].members.isEmpty || isContradicted(fault) { clear(fault, at: now) }
    } else if holds(fault) {
      gather(fault, at: now)
    } else {
      faults[fault].heldSince = nil
      faults[fault].due = nil
    }
    if faults[fault].members.isEmpty { free(fault) }
  }

  /// Waits until no more targets join, and no longer than a few times that.
  private mutating func gather(_ fault: Int, at now: Instant) {
    let since = faults[fault].heldSince ?? now
    faults[fault].heldSince = since
    let joined = max(since, faults[fault].joinedAt)
    faults[fault].due = min(joined.advanced(by: gathering), since.advanced(by: gathering * 5))
    if !waiting.contains(fault) { waiting.append(fault) }
  }

  private func holds(_ fault: Int) -> Bool {
    faults[fault].members.count >= 2 && !isContradicted(fault) && (faults[fault].direct > 0 || isNearest(fault))
  }

  /// Whether somebody's newest word is that it works. What was seen to be broken is not contradicted by words from before.
  private func isContradicted(_ fault: Int) -> Bool {
    faults[fault].direct == 0 && faults[fault].witnesses.contains { witnesses[$0].works > 0 }
  }

  /// Whether the gateway before a silent server is known to be in order: an answer has come by it since, or it stands
  /// accused by nobody else. It is waited for while its own case is open.
  private func isNearest(_ fault: Int) -> Bool {
    guard let way = faults[fault].way.index else { return true }
    let gateway = witnesses[way]
    return gateway.works > 0 ? gateway.workedAt > faults[fault].since : gateway.silent < 2
  }

  // MARK: Telling

  private mutating func announceDue(at now: Instant) {
    guard !waiting.isEmpty else { return }
    let due = waiting.filter { (faults[$0].due ?? .distantFuture) <= now }
    // A gateway before the servers behind it, which it may take over.
    for isResolver in [false, true] {
      for fault in due where faults[fault].cause.isResolver == isResolver && holds(fault) { announce(fault) }
    }
    review(at: now)
    waiting = waiting.filter { faults[$0].due != nil }
  }

  private mutating func announce(_ fault: Int) {
    faults[fault].due = nil
    faults[fault].heldSince = nil
    let id = identifier(of: fault)
    if case .gateway = faults[fault].cause { absorb(into: fault) }
    keep(fault)
    let members = faults[fault].members.sorted()
    let cause = faults[fault].cause
    faults[fault].isAnnounced = true
    faults[fault].explained = faults[fault].members
    changes.append(.announced(CauseReport(id: id, cause: cause, targets: members, reason: faults[fault].reason)))
    for key in members { changes.append(.assigned(key: key, cause)) }
  }

  /// An end. Those that still fail in the same way do so for a fault of its own, which has yet to be shown.
  private mutating func clear(_ fault: Int, at now: Instant) {
    let report = CauseReport(
      id: identifier(of: fault), cause: faults[fault].cause, targets: faults[fault].explained.sorted(),
      reason: faults[fault].reason)
    for key in faults[fault].members.sorted() { changes.append(.assigned(key: key, nil)) }
    changes.append(.cleared(report, lasted: max(.zero, now.since(faults[fault].since))))
    faults[fault].isAnnounced = false
    faults[fault].explained = []
    faults[fault].number = 0
    faults[fault].since = faults[fault].members.map { entries[$0].failedAt }.min() ?? now
  }

  private mutating func free(_ fault: Int) {
    close(fault)
    faults[fault].due = nil
    freeFaults.append(fault)
  }

  // MARK: Identifiers

  /// The identifier, which is made when it is first asked for.
  mutating func identifier(of fault: Int) -> String {
    if faults[fault].number == 0 {
      if let relative = relatives(of: fault).first(where: { faults[$0].number > 0 }) {
        faults[fault].number = faults[relative].number
      } else {
        lastNumber += 1
        faults[fault].number = lastNumber
      }
    }
    return "\(run)-\(faults[fault].number)"
  }

  /// Which of two may be the one fault there is has shown: the identifier is this one's.
  private mutating func keep(_ fault: Int) {
    for relative in relatives(of: fault) where faults[relative].number == faults[fault].number {
      faults[relative].number = 0
    }
  }

  /// As long as it is open whether a gateway or a server behind it is at fault, all of these have one identifier.
  private func relatives(of fault: Int) -> [Int] {
    let gateway: Int?
    switch faults[fault].cause {
    case .link, .route: return []
    case .gateway: gateway = witnesses.place(of: faults[fault].cause)
    case .resolver: gateway = faults[fault].way.index
    }
    guard let gateway else { return [] }
    let own = open[witnesses[gateway].cause]
    return (witnesses[gateway].behind + (own.map { [$0] } ?? [])).filter { $0 != fault && !faults[$0].isAnnounced }
  }
}
