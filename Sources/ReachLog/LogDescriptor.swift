internal import Glibc
internal import ReachCore
internal import ReachIO

/// A descriptor for log lines, with the way of writing to it that never blocks.
///
/// O_NONBLOCK belongs to the open file description, which an inherited descriptor shares with other processes; setting
/// it on standard error would surprise the shell behind us. So a pipe or terminal is opened anew under
/// /proc/self/fd (proc(5)), which makes a description of our own, and a socket is written with MSG_DONTWAIT (send(2)).
struct LogDescriptor {
  /// What a write came to.
  enum Outcome {
    case wrote(Int)
    case full
    case failed
  }

  private enum Way {
    /// A regular file: readiness means nothing.
    case plain
    /// Our own description with O_NONBLOCK.
    case nonBlocking
    /// send(2) with MSG_DONTWAIT.
    case socket
    /// An inherited description that could not be opened anew: poll(2) first, and little at a time.
    case guarded
  }

  private(set) var number: Int32
  /// Whether lines go to systemd's journal.
  let isJournal: Bool
  private let way: Way
  private let isOwned: Bool

  /// Bytes that a pipe or terminal which poll(2) calls writable takes without blocking.
  private static let guardedSize = 1024

  /// A descriptor that stays its owner's.
  init(inherited number: Int32) {
    var status = stat()
    let type = unsafe fstat(number, &status) == 0 ? status.st_mode & S_IFMT : S_IFREG
    if type == S_IFREG {
      self.init(number: number, way: .plain, isOwned: false)
    } else if type == S_IFSOCK {
      self.init(number: number, way: .socket, isOwned: false)
    } else {
      let flags = O_WRONLY | O_APPEND | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
      let own = unsafe open("/proc/self/fd/\(number)", flags)
      self.init(
        number: own >= 0 ? own : number, way: own >= 0 ? .nonBlocking : .guarded, isOwned: own >= 0)
    }
  }

  /// A file, opened to be added to. Throws what open(2) failed with.
  init(path: String) throws(SystemError) {
    let flags = O_WRONLY | O_APPEND | O_CREAT | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
    let number = try retryingInterrupts("open") { unsafe open(path, flags, 0o640) }
    var status = stat()
    let isRegular = unsafe fstat(number, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
    self.init(number: number, way: isRegular ? .plain : .nonBlocking, isOwned: true)
  }

  /// Where such an output leads. Throws what open(2) refused a file with.
  init(_ output: LogOutput) throws(SystemError) {
    switch output {
    case .standardError: self.init(inherited: 2)
    case .standardOutput: self.init(inherited: 1)
    case .file(let path): try self.init(path: path)
    }
  }

  private init(number: Int32, way: Way, isOwned: Bool) {
    self.number = number
    isJournal = JournalStream.isReached(by: number)
    self.way = way
    self.isOwned = isOwned
  }

  /// Writes what goes at once.
  func write(_ bytes: ArraySlice<UInt8>) -> Outcome {
    if way == .guarded {
      var question = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
      let count = unsafe poll(&question, 1, 0)
      if count == 0 { return .full }
    }
    let length = way == .guarded ? min(bytes.count, Self.guardedSize) : bytes.count
    while true {
      let count = unsafe bytes.withUnsafeBytes { buffer in
        way == .socket
          ? unsafe send(number, buffer.baseAddress, length, Int32(MSG_DONTWAIT | MSG_NOSIGNAL))
          : unsafe Glibc.write(number, buffer.baseAddress, length)
      }
      if count > 0 { return .wrote(count) }
      let code = errno
      if count < 0, code == EINTR { continue }
      return count < 0 && (code == EAGAIN || code == ENOBUFS) ? .full : .failed
    }
  }

  /// Closes what is our own.
  mutating func close() {
    if isOwned, number >= 0 { _ = Glibc.close(number) }
    number = -1
  }
}
