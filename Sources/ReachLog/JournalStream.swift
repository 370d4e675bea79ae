internal import Glibc

/// systemd's journal at the end of a descriptor. It takes how much a line matters from a number in front of the line
/// (sd-daemon(3)), which it then leaves out, so that `journalctl --priority=warning` shows what it should.
enum JournalStream {
  /// Whether a descriptor leads there: JOURNAL_STREAM names the device and inode of the stream that systemd set up, and
  /// it is still the one only if they are the descriptor's (systemd.exec(5)).
  static func isReached(by number: Int32) -> Bool {
    guard let text = unsafe getenv("JOURNAL_STREAM") else { return false }
    return unsafe isReached(by: number, named: String(cString: text))
  }

  /// The same, with the value of that variable.
  static func isReached(by number: Int32, named text: String) -> Bool {
    var status = stat()
    guard unsafe fstat(number, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK else { return false }
    return text == "\(status.st_dev):\(status.st_ino)"
  }

  /// What stands in front of a line of that level.
  static func prefix(_ level: LogLevel) -> String {
    switch level {
    case .debug: "<7>"
    case .info: "<6>"
    case .warning: "<4>"
    case .error: "<3>"
    }
  }
}
