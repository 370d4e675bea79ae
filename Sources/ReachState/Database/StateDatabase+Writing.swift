internal import ReachCore

extension StateDatabase {
  /// Begins a run of the agent and notes of each target that it is watched from now on. What was kept at a clean stop
  /// has been read by now and is let go, so that nobody takes it for true after an unclean one.
  func beginRun(watching names: Set<String>, boot: String, at wall: Int64) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      run = try statements["INSERT INTO runs(boot, started_at, seen_at) VALUES(?, ?, ?) RETURNING id"].runForNumber(
        [.text(boot), .number(wall), .number(wall)])
      try note(names)
    }
  }

  /// Notes of targets that they are watched from now on in the run that is.
  func watch(_ names: Set<String>) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in try note(names) }
  }

  private func note(_ names: Set<String>) throws(DatabaseError) {
    let watch = try statements["UPDATE targets SET run = ?, counters = '' WHERE name = ?"]
    for name in names { try watch.run(.number(run), .text(name)) }
  }

  /// Keeps all of these changes, or throws and keeps none of them.
  func write(_ changes: some Collection<StateChange>) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      for change in changes {
        let target = try write(change.record, counters: [])
        if let transition = change.transition { try write(transition, of: target) }
      }
    }
  }

  /// Keeps these targets as they stand, without their counters.
  func write(_ records: [TargetRecord]) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      for record in records { _ = try write(record, counters: []) }
    }
  }

  /// Ends the run cleanly: keeps the targets as they stand, with all their counters.
  func endRun(_ records: [TargetRecord], at wall: Int64) throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      for record in records { _ = try write(record, counters: record.counters) }
      try statements["UPDATE runs SET seen_at = ?, ended_at = ? WHERE id = ?"].run(
        .number(wall), .number(wall), .number(run))
    }
  }

  /// Notes that the agent is alive.
  func beat(at wall: Int64) throws(DatabaseError) {
    try statements["UPDATE runs SET seen_at = ? WHERE id = ?"].run(.number(wall), .number(run))
  }

  private func write(_ record: TargetRecord, counters: [KeptCounter]) throws(DatabaseError) -> Int64 {
    let (verdict, path, totals) = (record.state.verdict, record.state.verdict.path, record.totals)
    return try statements[Self.upsert].runForNumber([
      .text(record.target.name), .text(TargetDefinition.text(of: record.target)), .number(run),
      .number(Int64(clamping: record.state.sequence)), .text(verdict.status.rawValue),
      .number(verdict.flags.map { Int64($0.rawValue) }), .text(verdict.reason.description), .text(path.interface),
      .text(path.medium?.rawValue ?? ""), .text(path.gateway?.description ?? ""),
      .text(path.source?.description ?? ""), .text(path.address?.description ?? ""), .number(record.state.since),
      .number(Int64(clamping: totals.unknown)), .number(Int64(clamping: totals.notReachable)),
      .number(Int64(clamping: totals.reachableViaWWAN)), .number(Int64(clamping: totals.reachableViaWiFi)),
      .text(KeptCounter.text(counters)),
    ])
  }

  private func write(_ transition: Transition, of target: Int64) throws(DatabaseError) {
    try statements[Self.insertion].run(
      .number(target), .number(Int64(clamping: transition.sequence)), .number(transition.at),
      .text(transition.from.rawValue), .text(transition.to.rawValue),
      .number(transition.flags.map { Int64($0.rawValue) }), .text(transition.layer), .text(transition.reason),
      .text(transition.causeID), .text(transition.interface), .text(transition.medium),
      .number(transition.inPrevious?.nanoseconds))
  }

  private static let upsert = """
    INSERT INTO targets(name, definition, run, sequence, status, flags, reason, interface, medium, gateway, source,
      address, since, to_unknown, to_not_reachable, to_wwan, to_wifi, counters)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT(name) DO UPDATE SET definition = excluded.definition, run = excluded.run, sequence = excluded.sequence,
      status = excluded.status, flags = excluded.flags, reason = excluded.reason, interface = excluded.interface,
      medium = excluded.medium, gateway = excluded.gateway, source = excluded.source, address = excluded.address,
      since = excluded.since, to_unknown = excluded.to_unknown, to_not_reachable = excluded.to_not_reachable,
      to_wwan = excluded.to_wwan, to_wifi = excluded.to_wifi, counters = excluded.counters
    RETURNING id
    """

  // A number that is there already can only stem from a run whose changes were lost: the newer one counts.
  private static let insertion = """
    INSERT OR REPLACE INTO transitions(target, sequence, at, from_status, to_status, flags, layer, reason, cause_id,
      interface, medium, in_previous)
    VALUES(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    """
}
