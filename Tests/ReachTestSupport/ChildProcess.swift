internal import CReachTestSupport
public import Glibc
internal import ReachCore
public import ReachIO
internal import Synchronization

/// A program that runs beside a test, in the namespaces of the thread that starts it. What it prints goes to files in
/// memory and can be read at any time. It ends with this value at the latest, and with that thread.
///
/// Isolation: waiting needs the event loop it was given; the rest works anywhere.
public final class ChildProcess: Sendable {
  /// Where a program's standard error leads.
  public enum ErrorOutput: Sendable {
    /// To where `errors` reads it.
    case kept
    /// Into a pipe whose reading end is closed: a write fails with EPIPE.
    case brokenPipe
    /// Into a small pipe that nobody reads: soon a write would block.
    case unreadPipe
  }

  /// The program and its arguments.
  public let arguments: [String]
  /// Its process ID.
  public let processID: Int32

  private let loop: EventLoop
  private let endSignal: Int32
  private let standardOutput: Descriptor
  private let standardError: Descriptor
  private let readingEnd: Int32?
  private let status = Mutex<Int32?>(nil)

  /// Starts a program found along PATH, with nothing to read. Throws when there is no process to be had.
  ///
  /// `endSignal` is sent if it runs on when this value or the calling thread ends; one other than SIGKILL is for a
  /// program that must see to children of its own.
  public init(
    _ arguments: [String], errorsTo errors: ErrorOutput = .kept, endSignal: Int32 = SIGKILL, on loop: EventLoop
  ) throws(SystemError) {
    self.arguments = arguments
    self.endSignal = endSignal
    self.loop = loop
    standardOutput = try memoryFile()
    standardError = try memoryFile()
    let input = Descriptor(
      owning: try retryingInterrupts("open") { unsafe open("/dev/null", O_RDONLY | O_CLOEXEC) })
    var copies: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    let child: Int32
    switch errors {
    case .kept:
      readingEnd = nil
      child = unsafe CReachTestSupport_start(
        &copies, input.number, standardOutput.number, standardError.number, endSignal)
    case .brokenPipe, .unreadPipe:
      let ends = try smallPipe()
      let writing = Descriptor(owning: ends.writing)
      child = unsafe CReachTestSupport_start(
        &copies, input.number, standardOutput.number, writing.number, endSignal)
      if errors == .brokenPipe { close(ends.reading) }
      readingEnd = errors == .unreadPipe ? ends.reading : nil
    }
    if child < 0 { throw SystemError("fork", FaultCode(errno: -child)) }
    processID = child
  }

  deinit {
    if let readingEnd { close(readingEnd) }
    guard status.withLock({ $0 == nil }) else { return }
    kill(processID, endSignal)
    waitpid(processID, nil, 0)
  }

  /// What it has printed on standard output so far.
  public var output: String { text(of: standardOutput) }
  /// What it has printed on standard error so far.
  public var errors: String { text(of: standardError) }

  private func text(of file: borrowing Descriptor) -> String { (try? contents(of: file)) ?? "" }

  /// Sends it a signal, unless it has ended and was waited for.
  public func send(_ signal: Int32) {
    if status.withLock({ $0 == nil }) { kill(processID, signal) }
  }

  /// Waits for its end and returns its exit status, or 128 and more for the number of a signal that ended it. Throws
  /// `ProgramFailure` with what it printed when it has not ended by then.
  public func exitStatus(within limit: Duration = .seconds(30)) async throws -> Int32 {
    if let status = status.withLock({ $0 }) { return status }
    let number = CReachTestSupport_watch_process(processID)
    if number < 0 { throw SystemError("pidfd_open", FaultCode(errno: -number)) }
    let watch = Descriptor(owning: number)
    let outcome = try await loop.wait(on: watch.number, for: .readable, until: loop.now().advanced(by: limit))
    guard case .ready = outcome else { throw failure("has not ended within \(limit)") }
    return reap()
  }

  /// Whether it has not ended yet.
  public var isRunning: Bool {
    if status.withLock({ $0 != nil }) { return false }
    return CReachTestSupport_has_ended(processID) == 0
  }

  /// Its resident memory in KiB (VmRSS in proc_pid_status(5)); nil when the kernel does not say.
  public var residentKibibytes: Int? {
    get throws(SystemError) {
      let line = try readFile("/proc/\(processID)/status").split(separator: "\n").first { $0.hasPrefix("VmRSS:") }
      return line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap { Int($0) }
    }
  }

  private func reap() -> Int32 {
    var raw: Int32 = 0
    unsafe waitpid(processID, &raw, 0)
    let signal = raw & 0x7f
    let value = signal == 0 ? (raw >> 8) & 0xff : 128 + signal
    status.withLock { $0 = value }
    return value
  }

  /// A failure that tells what the program printed.
  public func failure(_ message: String) -> ProgramFailure {
    ProgramFailure(
      description: "\(arguments.joined(separator: " ")) \(message)\n\(output.suffix(4000))\(errors.suffix(4000))")
  }
}

private func memoryFile() throws(SystemError) -> Descriptor {
  let number = CReachTestSupport_memory_file()
  if number < 0 { throw SystemError("memfd_create", FaultCode(errno: -number)) }
  return Descriptor(owning: number)
}

/// A pipe of the smallest size, both ends to be owned.
private func smallPipe() throws(SystemError) -> (reading: Int32, writing: Int32) {
  var ends: [Int32] = [-1, -1]
  let code = unsafe CReachTestSupport_small_pipe(&ends)
  if code != 0 { throw SystemError("pipe2", FaultCode(errno: code)) }
  return (ends[0], ends[1])
}
