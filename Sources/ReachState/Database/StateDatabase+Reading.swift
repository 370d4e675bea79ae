internal import ReachCore

extension StateDatabase {
  /// The rows of the targets that are asked for, by name.
  func targets(_ wanted: Set<String>) throws(DatabaseError) -> [String: StoredTarget] {
    var found: [String: StoredTarget] = [:]
    try statements[Schema.targets].forEachRow { row in
      guard let name = row.text(0), wanted.contains(name) else { return }
      found[name] = StoredTarget(row, name: name)
    }
    return found
  }

  /// The newest transitions of a target, or of all, newest first.
  func newest(_ limit: Int, of target: String?) throws(DatabaseError) -> [Transition] {
    var found: [Transition] = []
    let keep: (Statement) -> Void = { row in if let transition = Transition(row) { found.append(transition) } }
    let count = Statement.Value.number(Int64(clamping: limit))
    if let target {
      try statements[Schema.transitions + " WHERE t.name = ? ORDER BY x.sequence DESC LIMIT ?"].forEachRow(
        [.text(target), count], body: keep)
    } else {
      try statements[Schema.transitions + " ORDER BY x.id DESC LIMIT ?"].forEachRow([count], body: keep)
    }
    return found
  }
}

extension StoredTarget {
  init(_ row: Statement, name: String) {
    var totals = TransitionTotals()
    for (offset, status) in [Status.unknown, .notReachable, .reachableViaWWAN, .reachableViaWiFi].enumerated() {
      totals[status] = UInt64(max(0, row.number(12 + Int32(offset)) ?? 0))
    }
    self.init(
      name: name, definition: row.text(1) ?? "", sequence: row.number(2) ?? 0, status: row.text(3) ?? "",
      flags: row.number(4), reason: row.text(5) ?? "", interface: row.text(6) ?? "", medium: row.text(7) ?? "",
      gateway: row.text(8) ?? "", source: row.text(9) ?? "", address: row.text(10) ?? "", since: row.number(11),
      totals: totals, counters: row.text(16) ?? "",
      lastRun: StoredRun(
        id: row.number(20) ?? 0, boot: row.text(17) ?? "", seenAt: row.number(18) ?? 0, isEnded: row.number(19) != nil))
  }
}

extension Transition {
  /// The transition in a row of `Schema.transitions`; nil when it makes no sense.
  init?(_ row: Statement) {
    guard let from = Status(rawValue: row.text(3) ?? ""), let to = Status(rawValue: row.text(4) ?? "") else {
      return nil
    }
    self.init(
      sequence: UInt64(max(0, row.number(0) ?? 0)), at: row.number(1) ?? 0, target: row.text(2) ?? "", from: from,
      to: to, flags: row.number(5).map { ReachabilityFlags(rawValue: UInt32(truncatingIfNeeded: $0)) },
      layer: row.text(6) ?? "", reason: row.text(7) ?? "", causeID: row.text(8), interface: row.text(9) ?? "",
      medium: row.text(10) ?? "", inPrevious: row.number(11).map { .nanoseconds(max(0, $0)) })
  }
}
