internal import CSQLite

/// A prepared statement of one connection, which it keeps open. For one thread.
@safe
final class Statement {
  private let handle: OpaquePointer
  private let database: Database

  init(owning handle: OpaquePointer, of database: Database) {
    unsafe self.handle = handle
    self.database = database
  }

  deinit { unsafe sqlite3_finalize(handle) }

  /// A value for a question mark.
  enum Value {
    case number(Int64?)
    case text(String?)
  }

  /// Runs the statement with these values, from its beginning to its end.
  func run(_ values: Value...) throws(DatabaseError) {
    try bind(values)
    defer { reset() }
    while try step() {}
  }

  /// Runs it with these values and returns the number in the first column of its one row.
  func runForNumber(_ values: [Value]) throws(DatabaseError) -> Int64 {
    try bind(values)
    defer { reset() }
    var number: Int64?
    while try step() { number = number ?? self.number(0) }
    return number ?? 0
  }

  /// Runs it with these values and calls `body` at each row.
  func forEachRow(_ values: [Value] = [], body: (Statement) -> Void) throws(DatabaseError) {
    try bind(values)
    defer { reset() }
    while try step() { body(self) }
  }

  /// Goes to the next row; false when there is none.
  func step() throws(DatabaseError) -> Bool {
    let code = unsafe sqlite3_step(handle)
    if code == SQLITE_ROW { return true }
    if code == SQLITE_DONE { return false }
    let error = database.failure(code)
    reset()
    throw error
  }

  private func bind(_ values: [Value]) throws(DatabaseError) {
    reset()
    for (offset, value) in values.enumerated() {
      let index = Int32(truncatingIfNeeded: offset + 1)
      let code: Int32
      switch value {
      case .number(let number?): code = unsafe sqlite3_bind_int64(handle, index, number)
      case .text(let text?):
        // With its terminator, so that an empty text has an address too and is not bound as NULL.
        code = unsafe text.utf8CString.withUnsafeBufferPointer {
          unsafe CSQLite_bind_text(handle, index, $0.baseAddress, Int32(clamping: $0.count - 1))
        }
      case .number(nil), .text(nil): code = unsafe sqlite3_bind_null(handle, index)
      }
      if code != SQLITE_OK { throw database.failure(code) }
    }
  }

  private func reset() { unsafe sqlite3_reset(handle) }

  // MARK: Columns

  /// The number in this column of the row; nil for NULL. SQLite makes one of whatever is there.
  func number(_ column: Int32) -> Int64? {
    unsafe sqlite3_column_type(handle, column) == SQLITE_NULL ? nil : sqlite3_column_int64(handle, column)
  }

  /// The text in this column of the row; nil for NULL. What is no UTF-8 is repaired.
  func text(_ column: Int32) -> String? {
    guard let bytes = unsafe sqlite3_column_text(handle, column) else { return nil }
    let count = Int(unsafe sqlite3_column_bytes(handle, column))
    return unsafe String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
  }
}
