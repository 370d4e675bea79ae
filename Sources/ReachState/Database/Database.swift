internal import CSQLite

/// One connection to an SQLite database. For one thread.
@safe
final class Database {
  /// How a file is opened.
  enum Mode {
    /// To be written; made when it does not exist.
    case readWrite
    /// To be read while others may write.
    case readOnly
    /// To be read while nobody writes, without a file made beside it.
    case immutable
  }

  private let handle: OpaquePointer

  /// Longest text or row that is taken from a file: far above what is ever written.
  private static let lengthLimit: Int32 = 1 << 20

  init(_ path: String, _ mode: Mode) throws(DatabaseError) {
    var handle: OpaquePointer?
    let flags: Int32 =
      switch mode {
      case .readWrite: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
      case .readOnly, .immutable: SQLITE_OPEN_READONLY
      }
    let name = mode == .immutable ? "file:" + Self.escaped(path) + "?immutable=1" : path
    // One thread uses the connection, so it needs no lock of its own.
    let code = unsafe sqlite3_open_v2(
      name, &handle, flags | SQLITE_OPEN_NOMUTEX | (mode == .immutable ? SQLITE_OPEN_URI : 0), nil)
    guard code == SQLITE_OK, let handle = unsafe handle else {
      let error = unsafe Self.error(code, handle)
      unsafe sqlite3_close_v2(handle)
      throw error
    }
    unsafe self.handle = handle
    _ = unsafe sqlite3_extended_result_codes(handle, 0)
    _ = unsafe sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, Self.lengthLimit)
    _ = unsafe sqlite3_busy_timeout(handle, 2_000)
  }

  deinit { unsafe sqlite3_close_v2(handle) }

  /// Runs statements that return nothing of interest.
  func execute(_ sql: String) throws(DatabaseError) {
    let code = unsafe sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw unsafe Self.error(code, handle) }
  }

  /// A statement, to be used again and again.
  func prepare(_ sql: String) throws(DatabaseError) -> Statement {
    var statement: OpaquePointer?
    let code = unsafe sqlite3_prepare_v3(handle, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &statement, nil)
    guard code == SQLITE_OK, let statement = unsafe statement else { throw unsafe Self.error(code, handle) }
    return unsafe Statement(owning: statement, of: self)
  }

  /// The number in the first column of the first row; nil without a row.
  func number(_ sql: String) throws(DatabaseError) -> Int64? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.number(0) : nil
  }

  /// The text in the first column of the first row; nil without one.
  func text(_ sql: String) throws(DatabaseError) -> String? {
    let statement = try prepare(sql)
    return try statement.step() ? statement.text(0) : nil
  }

  /// How many rows the last statement changed.
  var changes: Int { Int(unsafe sqlite3_changes(handle)) }

  /// Whether a transaction is under way.
  var isInTransaction: Bool { unsafe sqlite3_get_autocommit(handle) == 0 }

  /// Runs `body` as one transaction: all of it holds, or nothing.
  func transaction(_ body: () throws(DatabaseError) -> Void) throws(DatabaseError) {
    try execute("BEGIN IMMEDIATE")
    do throws(DatabaseError) {
      try body()
      try execute("COMMIT")
    } catch {
      // Some errors have rolled back already (https://sqlite.org/lang_transaction.html, section 3).
      if isInTransaction { try? execute("ROLLBACK") }
      throw error
    }
  }

  /// The error that the connection has just met.
  func failure(_ code: Int32) -> DatabaseError { unsafe Self.error(code, handle) }

  private static func error(_ code: Int32, _ handle: OpaquePointer?) -> DatabaseError {
    let words = unsafe sqlite3_errmsg(handle) ?? sqlite3_errstr(code)
    return DatabaseError(code: code, unsafe words.map { unsafe String(cString: $0) } ?? "code \(code)")
  }

  /// A path as part of a URI (RFC 3986): everything but letters, digits and a few marks is escaped.
  private static func escaped(_ path: String) -> String {
    let digits = Array("0123456789ABCDEF".utf8)
    var bytes: [UInt8] = []
    for byte in path.utf8 {
      switch byte {
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "-"),
        UInt8(ascii: "_"):
        bytes.append(byte)
      default: bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
