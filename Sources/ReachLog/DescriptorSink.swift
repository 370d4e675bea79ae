public import ReachCore
public import ReachIO

/// Writes log lines to a descriptor without ever making the event loop wait for a reader.
///
/// The lines of one turn of the loop go out together at its end: a fault that concerns a thousand targets costs a few
/// writes. What cannot be written then waits in a buffer of bounded size and goes out when the descriptor is writable; a line
/// for which there is no room is dropped whole and counted. Writing to a regular file is not put off: the kernel knows
/// no readiness for files.
public final class DescriptorSink: LogSink {
  private let loop: EventLoop
  private let capacity: Int
  private let state: LoopConfined<State>

  private struct State {
    var descriptor: LogDescriptor
    /// Of the file; nil for an inherited descriptor.
    var path: String?
    var format: LogFormat
    /// Lines that wait, from `written` on.
    var pending: [UInt8] = []
    var written = 0
    var dropped: UInt64 = 0
    var watch: EventLoop.Watch?
    var timer: TimerID?
    /// Whether what waits is written at the end of the turn.
    var isDrainDue = false
    var isClosed = false

    var waiting: Int { pending.count - written }
  }

  /// More than this does not wait for the end of the turn.
  private static let pieceSize = 64 * 1024
  /// How long to wait before another try where the kernel cannot say when.
  private static let retryPause = Duration.milliseconds(100)

  /// A sink. `capacity` bounds the bytes that wait. Throws what open(2) refused a file with.
  public init(
    _ output: LogOutput, format: LogFormat, on loop: EventLoop, capacity: Int = 1 << 20
  ) throws(SystemError) {
    self.loop = loop
    self.capacity = capacity
    state = LoopConfined(
      State(descriptor: try LogDescriptor(output), path: output.path, format: format), on: loop)
  }

  /// A sink on a descriptor that somebody else owns and keeps open. It is left as it is: if it blocks, it goes on doing
  /// so for others.
  public init(inherited number: Int32, format: LogFormat, on loop: EventLoop, capacity: Int = 1 << 20) {
    self.loop = loop
    self.capacity = capacity
    state = LoopConfined(State(descriptor: LogDescriptor(inherited: number), format: format), on: loop)
  }

  /// Lines that were lost: for want of room, or since writing failed. On the event loop.
  public var dropped: UInt64 { state.withState { $0.dropped } }

  /// Bytes that wait. On the event loop.
  public var waitingBytes: Int { state.withState { $0.waiting } }

  /// Takes one line, to be written at the end of the turn or when there is room, or drops it.
  public func write(_ record: LogRecord) {
    let (format, isJournal) = state.withState { ($0.format, $0.descriptor.isJournal) }
    var line = format.encode(record)
    if isJournal { line.insert(contentsOf: JournalStream.prefix(record.event.level).utf8, at: 0) }
    let mustDrain = state.withState { state in
      let isFree = state.watch == nil && state.timer == nil
      if isFree, state.waiting + line.count > min(capacity, Self.pieceSize), !state.isClosed { drain(&state) }
      guard !state.isClosed, state.waiting + line.count <= capacity else {
        state.dropped &+= 1
        return false
      }
      if state.written > 0, state.waiting == 0 || state.pending.count + line.count > 2 * capacity {
        state.pending.removeFirst(state.written)
        state.written = 0
      }
      state.pending.append(contentsOf: line)
      // With a watch set the descriptor is known to be full.
      guard state.watch == nil, state.timer == nil, !state.isDrainDue else { return false }
      state.isDrainDue = true
      return true
    }
    if mustDrain { loop.spawn { self.turnEnds() } }
  }

  private func turnEnds() {
    state.withState { state in
      state.isDrainDue = false
      if !state.isClosed { drain(&state) }
    }
  }

  /// Opens the file anew, after somebody has moved it away. Does nothing for an inherited descriptor. Throws what open(2)
  /// said; the file as it was stays in use then.
  public func reopen() throws(SystemError) {
    guard let path = state.withState({ $0.path }) else { return }
    go(on: try LogDescriptor(path: path))
  }

  /// Somewhere else to write to, opened and not yet used.
  public struct Destination: Sendable {
    fileprivate let descriptor: LogDescriptor
    fileprivate let path: String?
    fileprivate let format: LogFormat

    /// Opens it. Throws what open(2) refused a file with.
    public init(_ output: LogOutput, format: LogFormat) throws(SystemError) {
      descriptor = try LogDescriptor(output)
      path = output.path
      self.format = format
    }

    /// Closes it unused.
    public func close() {
      var descriptor = descriptor
      descriptor.close()
    }
  }

  /// Writes there from now on. Lines that wait are written there too, as they are.
  public func move(to destination: Destination) {
    state.withState { state in
      state.path = destination.path
      state.format = destination.format
    }
    go(on: destination.descriptor)
  }

  private func go(on fresh: LogDescriptor) {
    state.withState { state in
      if state.isDrainDue { drain(&state) }
      stopWaiting(&state)
      state.descriptor.close()
      state.descriptor = fresh
      drain(&state)
    }
  }

  /// Waits until all lines are written, at most until `deadline`; what is left then is given up and counted. Returns
  /// whether everything went out. Call it from a task on the loop.
  @discardableResult
  public func flush(until deadline: Instant) async -> Bool {
    while true {
      let isDone = state.withState { state in
        drain(&state)
        return state.waiting == 0
      }
      if isDone { return true }
      let now = loop.now()
      if now >= deadline { break }
      await loop.sleep(until: min(deadline, now.advanced(by: .milliseconds(5))))
      if Task.isCancelled { break }
    }
    state.withState { giveUp(&$0) }
    return false
  }

  /// Ends it: what cannot be written at once is given up and counted, an owned descriptor is closed, later lines are dropped.
  public func close() {
    state.withState { state in
      guard !state.isClosed else { return }
      if state.isDrainDue { drain(&state) }
      giveUp(&state)
      state.descriptor.close()
      state.isClosed = true
    }
  }

  // MARK: Writing

  /// Writes as much as goes at once and sees to the rest.
  private func drain(_ state: inout State) {
    while state.waiting > 0 {
      switch state.descriptor.write(state.pending[state.written...]) {
      case .wrote(let count): state.written += count
      case .full: return wait(&state)
      case .failed:
        giveUp(&state)
        return
      }
    }
    state.pending.removeAll(keepingCapacity: state.pending.count <= 16 * 1024)
    state.written = 0
    stopWaiting(&state)
  }

  private func wait(_ state: inout State) {
    guard state.watch == nil, state.timer == nil else { return }
    do {
      state.watch = try loop.watch(state.descriptor.number, for: .writable) { _ in
        self.state.withState { self.drain(&$0) }
      }
    } catch {
      // A descriptor that epoll does not take (EPERM), or takes only once (EEXIST): ask again after a while.
      state.timer = loop.schedule(at: loop.now().advanced(by: Self.retryPause)) {
        self.state.withState { state in
          state.timer = nil
          self.drain(&state)
        }
      }
    }
  }

  private func stopWaiting(_ state: inout State) {
    if let watch = state.watch { loop.unwatch(watch) }
    if let timer = state.timer { loop.cancel(timer) }
    state.watch = nil
    state.timer = nil
  }

  private func giveUp(_ state: inout State) {
    stopWaiting(&state)
    let lost = state.pending[state.written...].reduce(0) { $0 + ($1 == UInt8(ascii: "\n") ? 1 : 0) }
    state.dropped &+= UInt64(lost)
    state.pending = []
    state.written = 0
  }
}
