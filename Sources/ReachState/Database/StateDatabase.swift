internal import CSQLite
internal import ReachCore

/// The database that state is kept in. For one thread.
///
/// With a write-ahead log and `synchronous=NORMAL` a commit outlives this process however it ends, and costs no
/// fsync(2); a machine that loses power may lose the last commits, and never the database
/// (https://sqlite.org/pragma.html#pragma_synchronous).
final class StateDatabase {
  let database: Database
  /// The run of the agent that writes.
  var run: Int64 = 0
  lazy var statements = StatementCache(database)

  /// `Reac` in ASCII: what tells our databases from those of others (PRAGMA application_id).
  static let applicationID: Int64 = 0x5265_6163
  /// The version of the tables that this build reads and writes (PRAGMA user_version).
  static let version: Int64 = 1
  /// A database up to this size is checked as a whole when it is opened.
  private static let checkedSize: Int64 = 8 << 20

  /// Opens the database for writing, and makes it when there is none. Throws `.damaged` or `.foreign` when the file is
  /// not to be used any more.
  init(_ folder: StateFolder) throws(DatabaseError) {
    database = try Database(folder.database, .readWrite)
    do {
      try prepare()
    } catch  where error.code == SQLITE_ERROR {
      throw DatabaseError(foreign: "\(error)")
    } catch  where error.code == SQLITE_READONLY && folder.isDatabaseWritable {
      throw DatabaseError(foreign: "its header says that it may only be read")
    }
  }

  private func prepare() throws(DatabaseError) {
    let isNew = try Self.isEmpty(database)
    // Before anything is written: a file that is set aside is left as it was found.
    if isNew { try database.execute("PRAGMA auto_vacuum=INCREMENTAL") } else { try Self.verify(database) }
    try database.execute(
      """
      PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA journal_size_limit=4194304; PRAGMA cache_size=-512;
      PRAGMA temp_store=MEMORY; PRAGMA foreign_keys=OFF; PRAGMA trusted_schema=OFF; PRAGMA cell_size_check=ON
      """)
    if isNew { try create() }
  }

  /// Whether the file is empty; throws when it is not ours to read.
  static func isEmpty(_ database: Database) throws(DatabaseError) -> Bool {
    let version = try database.number("PRAGMA user_version") ?? 0
    let application = try database.number("PRAGMA application_id") ?? 0
    if try database.number("SELECT count(*) FROM sqlite_schema") == 0, version == 0 { return true }
    guard application == applicationID else { throw DatabaseError(foreign: "it is another program's database") }
    guard version <= Self.version else {
      throw DatabaseError(foreign: "a later version of reachd wrote it (\(version); this one knows \(Self.version))")
    }
    guard version == Self.version else { throw DatabaseError(foreign: "its version is \(version), which never was") }
    return false
  }

  /// Whether its tables are as they should be, and, where that takes no time, its pages too.
  private static func verify(_ database: Database) throws(DatabaseError) {
    let size = (try database.number("PRAGMA page_count") ?? 0) &* (try database.number("PRAGMA page_size") ?? 0)
    if size <= checkedSize, let found = try database.text("PRAGMA quick_check(1)"), found != "ok" {
      throw DatabaseError(code: SQLITE_CORRUPT, found)
    }
    do {
      for sql in Schema.samples { _ = try database.prepare(sql) }
    } catch  where error.code == SQLITE_ERROR {
      throw DatabaseError(foreign: "its tables are not those of reachd: \(error)")
    }
  }

  private func create() throws(DatabaseError) {
    try database.transaction { () throws(DatabaseError) in
      try database.execute(Schema.creation)
      try database.execute("PRAGMA application_id=\(Self.applicationID); PRAGMA user_version=\(Self.version)")
    }
  }
}

/// The tables.
enum Schema {
  static let creation = """
    CREATE TABLE runs(
      id INTEGER PRIMARY KEY, boot TEXT NOT NULL, started_at INTEGER NOT NULL, seen_at INTEGER NOT NULL,
      ended_at INTEGER);
    CREATE TABLE targets(
      id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, definition TEXT NOT NULL, run INTEGER NOT NULL,
      sequence INTEGER NOT NULL, status TEXT NOT NULL, flags INTEGER, reason TEXT NOT NULL, interface TEXT NOT NULL,
      medium TEXT NOT NULL, gateway TEXT NOT NULL, source TEXT NOT NULL, address TEXT NOT NULL, since INTEGER,
      to_unknown INTEGER NOT NULL, to_not_reachable INTEGER NOT NULL, to_wwan INTEGER NOT NULL,
      to_wifi INTEGER NOT NULL, counters TEXT NOT NULL);
    CREATE TABLE transitions(
      id INTEGER PRIMARY KEY, target INTEGER NOT NULL REFERENCES targets(id), sequence INTEGER NOT NULL,
      at INTEGER NOT NULL, from_status TEXT NOT NULL, to_status TEXT NOT NULL, flags INTEGER, layer TEXT NOT NULL,
      reason TEXT NOT NULL, cause_id TEXT, interface TEXT NOT NULL, medium TEXT NOT NULL, in_previous INTEGER);
    CREATE UNIQUE INDEX transitions_by_target ON transitions(target, sequence);
    """

  static let targets = """
    SELECT t.name, t.definition, t.sequence, t.status, t.flags, t.reason, t.interface, t.medium, t.gateway, t.source,
      t.address, t.since, t.to_unknown, t.to_not_reachable, t.to_wwan, t.to_wifi, t.counters,
      r.boot, r.seen_at, r.ended_at, r.id
    FROM targets t JOIN runs r ON r.id = t.run
    """

  static let transitions = """
    SELECT x.sequence, x.at, t.name, x.from_status, x.to_status, x.flags, x.layer, x.reason, x.cause_id, x.interface,
      x.medium, x.in_previous
    FROM transitions x JOIN targets t ON t.id = x.target
    """

  /// Statements that no database can prepare that lacks a table or a column.
  static let samples = [targets, transitions, "SELECT id, started_at FROM runs", "SELECT run FROM targets"]
}

/// Each statement prepared once.
final class StatementCache {
  private let database: Database
  private var known: [String: Statement] = [:]

  init(_ database: Database) { self.database = database }

  subscript(sql: String) -> Statement {
    get throws(DatabaseError) {
      if let statement = known[sql] { return statement }
      let statement = try database.prepare(sql)
      known[sql] = statement
      return statement
    }
  }
}
