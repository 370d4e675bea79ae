internal import Glibc
internal import ReachCore

/// Why no history can be read: one line for people.
public struct HistoryError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line.
  public let description: String
  init(_ description: String) { self.description = description }
}

/// Reads what an agent keeps, also while it runs, and changes nothing.
public enum TransitionHistory {
  /// Calls `body` with each transition that is kept below this `state_dir`, oldest first: those of a target, or of all;
  /// those from `since` on, in nanoseconds since 1970 UTC, or all. Throws when there is nothing that can be read.
  ///
  /// Blocks until all is read.
  public static func read(
    directory: String, target: String? = nil, since: Int64? = nil, _ body: (Transition) -> Void
  ) throws(HistoryError) {
    let file = StateFolder(path: directory).database
    guard unsafe access(file, F_OK) == 0 else {
      throw HistoryError(
        errno == EACCES
          ? "\(directory) may not be entered: give this user the right to, or run this as the agent's user"
          : "there is no state in \(directory): no agent with this state_dir has run yet")
    }
    do throws(DatabaseError) {
      // Where there is no log beside it, nobody writes. Opened in the usual way, the database would then get one that
      // belongs to whoever reads.
      let isLogged = unsafe access(file + "-wal", F_OK) == 0
      let database = try Database(file, isLogged ? .readOnly : .immutable)
      if try StateDatabase.isEmpty(database) { return }
      var sql = Schema.transitions + " WHERE x.at >= ?"
      var values: [Statement.Value] = [.number(since ?? .min)]
      if let target {
        sql += " AND t.name = ?"
        values.append(.text(target))
      }
      try database.prepare(sql + " ORDER BY x.id").forEachRow(values) { row in
        if let transition = Transition(row) { body(transition) }
      }
    } catch {
      throw HistoryError(explanation(error, file))
    }
  }

  private static func explanation(_ error: DatabaseError, _ file: String) -> String {
    switch error.kind {
    case .foreign: "\(file) cannot be read: \(error)"
    case .damaged: "\(file) is damaged (\(error)); the agent sets it aside at its next start"
    case .denied: "\(file) cannot be read (\(error)): give this user the right to, or run this as the agent's user"
    case .busy, .full, .other: "\(file) cannot be read: \(error)"
    }
  }
}
