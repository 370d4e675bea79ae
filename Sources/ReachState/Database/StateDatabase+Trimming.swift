internal import ReachCore

extension StateDatabase {
  private static let rowsAtOnce = 500

  /// Deletes a few of what is too old or too much, in one short transaction. Returns whether there may be more.
  func trim(to settings: StateSettings, at wall: Int64) throws(DatabaseError) -> Bool {
    let (oldest, overflow) = wall.subtractingReportingOverflow(settings.age.nanoseconds)
    let kept = try statements["SELECT count(*) FROM transitions"].runForNumber([])
    let surplus = max(kept - Int64(settings.transitions), try isTooLarge(settings) ? kept / 4 + 1 : 0)
    var deleted = 0
    try database.transaction { () throws(DatabaseError) in
      // In the order in which they came: a wall clock that was set back has mixed up the times.
      if surplus > 0 {
        try statements["DELETE FROM transitions WHERE id IN (SELECT id FROM transitions ORDER BY id LIMIT ?)"].run(
          .number(min(surplus, Int64(Self.rowsAtOnce))))
        deleted += database.changes
      } else if !overflow {
        try statements[
          "DELETE FROM transitions WHERE at < ? AND id IN (SELECT id FROM transitions ORDER BY id LIMIT ?)"
        ].run(.number(oldest), .number(Int64(Self.rowsAtOnce)))
        deleted += database.changes
      }
      if deleted == 0, !overflow { deleted += try forget(before: oldest) }
    }
    if deleted > 0 { try database.execute("PRAGMA incremental_vacuum(256)") }
    return deleted > 0
  }

  /// Lets go of targets that nobody has watched for so long and that have no transition any more.
  private func forget(before oldest: Int64) throws(DatabaseError) -> Int {
    try statements[
      """
      DELETE FROM targets WHERE id IN (
        SELECT t.id FROM targets t JOIN runs r ON r.id = t.run
        WHERE t.run != ? AND r.seen_at < ? AND NOT EXISTS (SELECT 1 FROM transitions x WHERE x.target = t.id) LIMIT ?)
      """
    ].run(.number(run), .number(oldest), .number(Int64(Self.rowsAtOnce)))
    let targets = database.changes
    try statements["DELETE FROM runs WHERE id != ? AND NOT EXISTS (SELECT 1 FROM targets t WHERE t.run = runs.id)"].run(
      .number(run))
    return targets
  }

  private func isTooLarge(_ settings: StateSettings) throws(DatabaseError) -> Bool {
    let pages = (try database.number("PRAGMA page_count") ?? 0) - (try database.number("PRAGMA freelist_count") ?? 0)
    let size = pages.multipliedReportingOverflow(by: try database.number("PRAGMA page_size") ?? 0)
    return size.overflow || size.partialValue > Int64(settings.bytes)
  }
}
