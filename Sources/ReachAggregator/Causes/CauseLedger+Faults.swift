internal import ReachCore

/// Who fails for what.
extension CauseLedger {
  /// A target fails for this cause, or still does.
  mutating func put(_ key: Int, _ blame: CauseEvidence.Blame, _ evidence: CauseEvidence, at now: Instant) {
    let cause = nearest(blame, evidence)
    if let held = entries[key].fault.index, faults[held].cause == cause {
      if entries[key].isDirect != blame.isDirect {
        faults[held].direct += blame.isDirect ? 1 : -1
        touch(held)
      }
    } else {
      leave(key)
      let fault = openFault(for: cause, blame.reason, at: now)
      require(evidence, of: fault)
      if blame.isDirect { faults[fault].direct += 1 }
      if blame.reason.isNearer(than: faults[fault].reason) { faults[fault].reason = blame.reason }
      faults[fault].joinedAt = now
      join(key, fault)
    }
    entries[key].isDirect = blame.isDirect
    entries[key].failedAt = now
  }

  /// A target no longer fails for what it failed for.
  mutating func leave(_ key: Int) {
    guard let fault = entries[key].fault.index else { return }
    entries[key].fault = .none
    faults[fault].members.remove(key)
    if entries[key].isDirect { faults[fault].direct -= 1 }
    if faults[fault].isAnnounced { changes.append(.assigned(key: key, nil)) }
    touch(fault)
  }

  /// What worked in a round that began then was not at fault before it. Failures seen since stand.
  mutating func acquit(_ fault: Int, before began: Instant) {
    let acquitted = faults[fault].members.filter { entries[$0].failedAt < began }
    for key in acquitted.sorted() { leave(key) }
    // What fails from now on fails anew.
    if faults[fault].members.isEmpty { close(fault) }
    touch(fault)
  }

  /// The silence of servers behind a gateway that turns out to be at fault was that gateway's.
  mutating func absorb(into fault: Int) {
    guard let way = witnesses.place(of: faults[fault].cause) else { return }
    for behind in witnesses[way].behind where !faults[behind].isAnnounced {
      let moved = faults[behind].members.filter { key in
        entries[key].gateway.witness == Place(way) && entries[key].gateway.word == .serverSilent
      }
      for key in moved.sorted() where !entries[key].isDirect {
        leave(key)
        join(key, fault)
      }
    }
  }

  mutating func touch(_ fault: Int) {
    guard !faults[fault].isTouched else { return }
    faults[fault].isTouched = true
    touched.append(fault)
  }

  /// A silent server behind a gateway that is known to be at fault is one of that gateway's.
  private func nearest(_ blame: CauseEvidence.Blame, _ evidence: CauseEvidence) -> Cause {
    guard !blame.isDirect, evidence.gatewayWord == .serverSilent, let gateway = evidence.gateway,
      let fault = open[gateway], faults[fault].isAnnounced
    else { return blame.cause }
    return gateway
  }

  private mutating func join(_ key: Int, _ fault: Int) {
    faults[fault].members.insert(key)
    entries[key].fault = Place(fault)
    if faults[fault].isAnnounced {
      faults[fault].explained.insert(key)
      changes.append(.assigned(key: key, faults[fault].cause))
    }
    touch(fault)
  }

  // MARK: Faults

  private mutating func openFault(for cause: Cause, _ reason: Reason, at now: Instant) -> Int {
    if let known = open[cause] {
      // Another route that is lost later is another fault.
      let isOver = if case .route = cause { faults[known].joinedAt.advanced(by: gathering) < now } else { false }
      if !isOver { return known }
    }
    let fault = freeFaults.popLast() ?? faults.count
    if fault < faults.count {
      faults[fault] = Fault(cause, reason, at: now)
    } else {
      faults.append(Fault(cause, reason, at: now))
    }
    if open.updateValue(fault, forKey: cause) == nil, cause.isLink { openLinks += 1 }
    return fault
  }

  /// Notes who could contradict this fault, and which gateway lies before it.
  private mutating func require(_ evidence: CauseEvidence, of fault: Int) {
    let cause = faults[fault].cause
    switch cause {
    case .link, .route: return
    case .gateway: require(cause, of: fault)
    case .resolver:
      for server in evidence.servers { require(.resolver(server), of: fault) }
      guard evidence.gatewayWord == .serverSilent, let way = evidence.gateway, faults[fault].way == .none else {
        return
      }
      let index = witnesses.hold(way)
      witnesses[index].behind.append(fault)
      faults[fault].way = Place(index)
    }
  }

  private mutating func require(_ cause: Cause, of fault: Int) {
    if let known = witnesses.place(of: cause), faults[fault].witnesses.contains(known) { return }
    let index = witnesses.hold(cause)
    witnesses[index].faults.append(fault)
    faults[fault].witnesses.append(index)
  }

  /// Nobody joins this fault any more.
  mutating func close(_ fault: Int) {
    let cause = faults[fault].cause
    if open[cause] == fault {
      open[cause] = nil
      if cause.isLink { openLinks -= 1 }
    }
    for witness in faults[fault].witnesses {
      witnesses[witness].faults.removeAll { $0 == fault }
      witnesses.release(witness)
    }
    faults[fault].witnesses = []
    if let way = faults[fault].way.index {
      witnesses[way].behind.removeAll { $0 == fault }
      witnesses.release(way)
      faults[fault].way = .none
    }
  }
}
