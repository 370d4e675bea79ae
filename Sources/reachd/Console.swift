internal import Glibc

/// Standard output and standard error, written whole, and what may be sent to them.
struct Console: Sendable {
  /// Whether ✓, ✗ and colour may be used: standard output is a terminal and NO_COLOR is not set.
  let isDecorated: Bool
  /// The same of standard error.
  let isErrorDecorated: Bool

  /// The console of this process.
  static func standard() -> Console {
    let noColor = unsafe getenv("NO_COLOR").map { unsafe $0.pointee != 0 } ?? false
    return Console(
      isDecorated: isatty(STDOUT_FILENO) == 1 && !noColor, isErrorDecorated: isatty(STDERR_FILENO) == 1 && !noColor)
  }

  /// Gives standard input, output and error something to stand for where they were closed. Otherwise the next
  /// descriptor that is opened, a socket perhaps, would take their number and be sent the log.
  static func openMissingStreams() {
    for number in STDIN_FILENO...STDERR_FILENO where fcntl(number, F_GETFD) < 0 {
      // The lowest free number is given, which is this one.
      _ = unsafe open("/dev/null", O_RDWR)
    }
  }

  /// Results.
  func out(_ text: String) { Self.write(text, to: STDOUT_FILENO) }

  /// Problems.
  func error(_ text: String) { Self.write(text, to: STDERR_FILENO) }

  private static func write(_ text: String, to descriptor: Int32) {
    let bytes = Array(text.utf8)
    var done = 0
    while done < bytes.count {
      let written = unsafe bytes[done...].withUnsafeBytes {
        unsafe Glibc.write(descriptor, $0.baseAddress, $0.count)
      }
      if written > 0 { done += written } else if errno != EINTR { return }
    }
  }
}
