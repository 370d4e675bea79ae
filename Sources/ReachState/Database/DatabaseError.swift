internal import CSQLite

/// What SQLite refused, and with which of its result codes (https://sqlite.org/rescode.html).
struct DatabaseError: Error, Hashable, CustomStringConvertible {
  /// What that means for the file.
  enum Kind: Hashable {
    /// The file is damaged or is no database: nothing will come of it any more.
    case damaged
    /// A later version of reachd, or another program, wrote it.
    case foreign
    /// The disk is full.
    case full
    /// It may not be written, or not be opened.
    case denied
    /// Somebody else holds it.
    case busy
    /// Anything else, mostly an error of the disk.
    case other
  }

  /// The primary result code.
  let code: Int32
  /// SQLite's own words, or ours.
  let description: String
  /// What it means.
  let kind: Kind

  init(code: Int32, _ description: String) {
    self.code = code & 0xff
    self.description = description
    kind =
      switch code & 0xff {
      case SQLITE_CORRUPT, SQLITE_NOTADB: .damaged
      case SQLITE_FULL: .full
      case SQLITE_READONLY, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH: .denied
      case SQLITE_BUSY, SQLITE_LOCKED: .busy
      default: .other
      }
  }

  /// A file that is in order and not ours.
  init(foreign description: String) {
    code = SQLITE_ERROR
    self.description = description
    kind = .foreign
  }

  /// Whether the file itself is to be set aside.
  var isAboutTheFile: Bool { kind == .damaged || kind == .foreign }
}
