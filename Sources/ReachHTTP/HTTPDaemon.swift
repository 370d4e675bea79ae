internal import CMicroHTTPD
internal import Glibc
internal import ReachCore
internal import ReachIO

/// One daemon of libmicrohttpd and its place on the event loop.
final class HTTPDaemon: Sendable {
  /// The address that was asked for.
  let wanted: ListenAddress
  /// The address it listens on.
  let address: ListenAddress

  private let loop: EventLoop
  private let context: DaemonContext
  private let state: LoopConfined<State>

  @safe
  private struct State {
    /// nil once it has been stopped.
    var handle: OpaquePointer?
    var watch: EventLoop.Watch?
    var timer: TimerID?
    var file: SocketFile?
    /// The listening socket, which is the library's; -1 once it is closed.
    var listener: Int32
    /// Whether the library is left alone, since it has no descriptor for a client.
    var isPaused = false
  }

  /// How often the library may run in one turn of the loop before others have theirs.
  private static let runsPerTurn = 4

  /// How long new clients wait when this process has no descriptor for one.
  private static let pause = Duration.milliseconds(100)

  /// Starts a daemon, which takes the socket over. Throws when the library cannot be started, mostly for want of
  /// descriptors.
  init(
    on loop: EventLoop, wanted: ListenAddress, socket: consuming ListenSocket, routes: HTTPRoutes,
    limits: HTTPLimits, gate: HTTPGate, observer: @escaping HTTPServer.Observer
  ) throws(SystemError) {
    self.loop = loop
    self.wanted = wanted
    address = socket.bound
    context = DaemonContext(
      on: loop, routes: routes, limits: limits, gate: gate, observer: observer, listener: socket.bound)
    let file = socket.file
    let number = socket.release()
    let idle = UInt32(clamping: (max(0, limits.idle.nanoseconds) + 999_999_999) / 1_000_000_000)
    let handle = unsafe CMicroHTTPD_start(
      number, context.handshakes == nil ? 0 : 1, limits.headerBytes, limits.connections, limits.connectionsPerAddress,
      idle, answerRequest, noteRequest, forgetRequest, noteConnection, Unmanaged.passUnretained(context).toOpaque())
    guard let handle = unsafe handle else {
      let failure = SystemError.current("MHD_start_daemon")
      _ = Glibc.close(number)
      file?.remove()
      throw failure
    }
    let epoll = unsafe CMicroHTTPD_epoll(handle)
    state = unsafe LoopConfined(State(handle: handle, file: file, listener: number), on: loop)
    do {
      let watch = try loop.watch(epoll, for: .readable) { [weak self] _ in self?.run() }
      state.withState { $0.watch = watch }
    } catch {
      stop()
      throw error
    }
    context.onResume { [weak self] in self?.run() }
    context.startSweeping()
  }

  /// How many connections are open.
  var connections: Int {
    state.withState { unsafe $0.handle.map { unsafe Int(CMicroHTTPD_connections($0)) } ?? 0 }
  }

  /// Whether the library made no thread.
  var isThreadless: Bool {
    state.withState {
      unsafe $0.handle.map { unsafe CMicroHTTPD_has_threads(CMicroHTTPD_flags($0)) == 0 } ?? true
    }
  }

  /// Whether an answer is under way.
  var isBusy: Bool { context.activeRequests > 0 }

  /// Lets the library do what can be done, and sees to it that it runs again when it must.
  private func run() {
    // The handlers run inside of MHD_run and may come back to this object: no state is held meanwhile.
    guard let handle = unsafe state.withState({ unsafe $0.handle }) else { return }
    endPause()
    let connectionsBefore = context.totalConnections
    var timeout: Int64 = 0
    for _ in 0..<Self.runsPerTurn where timeout == 0 {
      let ended = context.endedConnections
      unsafe CMicroHTTPD_run(handle)
      // At its limit of connections the library stops watching the listening socket, and takes that up again only at
      // the beginning of a run: one that made room is followed by another.
      timeout = context.endedConnections == ended ? unsafe CMicroHTTPD_timeout(handle) : 0
    }
    if context.totalConnections == connectionsBefore, connections == 0, isClientWaiting { return pauseAccepting() }
    state.withState { state in
      if let timer = state.timer { loop.cancel(timer) }
      state.timer = nil
      guard timeout >= 0 else { return }
      // Never due within this turn, or a fast client would keep all others waiting.
      let delay = max(1, timeout.multipliedReportingOverflow(by: 1_000_000).partialValue)
      state.timer = loop.schedule(at: loop.now().advanced(byNanoseconds: delay)) { [weak self] in self?.run() }
    }
  }

  // MARK: Succession

  /// The listening socket once more, for another daemon, while this one goes on. Throws what fcntl(2) failed with.
  func shareSocket() throws(SystemError) -> ListenSocket {
    let listener = state.withState { $0.listener }
    let number = try retryingInterrupts("fcntl") { fcntl(listener, F_DUPFD_CLOEXEC, 0) }
    return ListenSocket(sharing: Descriptor(owning: number), bound: address)
  }

  /// Becomes the one to remove the file of a Unix socket.
  func takeFile(of other: HTTPDaemon) {
    let file = other.state.withState { state in
      defer { state.file = nil }
      return state.file
    }
    state.withState { $0.file = file }
  }

  // MARK: Without a descriptor for a client

  /// Whether a client waits to be accepted.
  private var isClientWaiting: Bool {
    let listener = state.withState { $0.listener }
    var entry = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
    return unsafe listener >= 0 && poll(&entry, 1, 0) > 0
  }

  /// Leaves the library alone for a while.
  ///
  /// It could not accept a client that waits: there is no descriptor (EMFILE in accept(2)). With other clients it would
  /// wait until one of them is gone; without any it would be told of this one again and again, and turn the loop for
  /// nothing.
  private func pauseAccepting() {
    state.withState { state in
      if let timer = state.timer { loop.cancel(timer) }
      if let watch = state.watch { try? loop.change(watch, to: []) }
      state.isPaused = true
      state.timer = loop.schedule(at: loop.now().advanced(by: Self.pause)) { [weak self] in self?.run() }
    }
  }

  private func endPause() {
    state.withState { state in
      guard state.isPaused else { return }
      state.isPaused = false
      if let watch = state.watch { try? loop.change(watch, to: .readable) }
    }
  }

  /// Stops accepting; what is under way goes on.
  func quiesce() {
    state.withState { state in
      guard let handle = unsafe state.handle else { return }
      let number = unsafe CMicroHTTPD_quiesce(handle)
      if number >= 0 { _ = Glibc.close(number) }
      state.listener = -1
      state.file?.remove()
      state.file = nil
    }
  }

  /// Closes every connection and ends. Not from a handler.
  func stop() {
    let handle = unsafe state.withState { state in
      defer { unsafe state.handle = nil }
      if let watch = state.watch { loop.unwatch(watch) }
      if let timer = state.timer { loop.cancel(timer) }
      state.file?.remove()
      state.watch = nil
      state.timer = nil
      state.file = nil
      return unsafe state.handle
    }
    guard let handle = unsafe handle else { return }
    context.end()
    unsafe CMicroHTTPD_run(handle)
    unsafe MHD_stop_daemon(handle)
    context.stopSweeping()
  }
}
