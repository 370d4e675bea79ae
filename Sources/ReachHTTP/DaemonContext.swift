internal import CMicroHTTPD
internal import Glibc
internal import ReachCore
internal import ReachIO

/// What the library's callbacks need to know; they get it as their opaque pointer. Outlives the daemon.
final class DaemonContext: Sendable {
  let loop: EventLoop
  let routes: HTTPRoutes
  let limits: HTTPLimits
  let observer: HTTPServer.Observer
  let listener: ListenAddress
  let gate: HTTPGate
  /// nil where connections do not speak TLS.
  let handshakes: TLSHandshakes?
  private let runner: LibraryRunner
  private let state: LoopConfined<State>

  /// A request that waits for its answer. Its connection is suspended, so the library does not end it.
  @safe
  private struct Promise {
    let connection: OpaquePointer
    let incoming: IncomingRequest
    let due: Instant
  }

  private struct State {
    var table: ConnectionTable
    var ended = 0
    var promises: [UInt64: Promise] = [:]
    var nextPromise: UInt64 = 0
    /// The promise whose handler is being called, what came of it, if that came at once, and how long it may take if not.
    var current: (number: UInt64, outcome: Outcome?, limit: Duration)?
    var began = 0
    var timer: TimerID?
    var isStopped = false
    /// Whether nothing may be promised any more.
    var isEnding = false
  }

  /// What a request that waits comes to.
  enum Outcome {
    /// This is its answer.
    case answer(HTTPResponse)
    /// It may be asked.
    case admitted
  }

  /// What the kernel may hold of an answer that is not read: enough to keep a path of 100 ms busy, and a bound on what
  /// many slow readers cost. Left to itself it would grow to 4 MiB each (net.ipv4.tcp_wmem, tcp(7)).
  private static let sendBuffer: Int32 = 128 * 1024

  init(
    on loop: EventLoop, routes: HTTPRoutes, limits: HTTPLimits, gate: HTTPGate,
    observer: @escaping HTTPServer.Observer, listener: ListenAddress
  ) {
    let runner = LibraryRunner(on: loop)
    self.loop = loop
    self.runner = runner
    self.gate = gate
    handshakes = gate.isSecure ? TLSHandshakes(on: loop) { runner.runSoon() } : nil
    self.routes = routes
    self.limits = limits
    self.observer = observer
    self.listener = listener
    state = LoopConfined(State(table: ConnectionTable(limits: limits)), on: loop)
  }

  /// How many requests have arrived whole and are being answered.
  var activeRequests: Int { state.withState { $0.table.answers } }

  /// How many connections have come to their end.
  var endedConnections: Int { state.withState { $0.ended } }

  /// How many connections have begun or come to their end.
  var totalConnections: Int { state.withState { $0.began &+ $0.ended } }

  /// A connection has begun; `session` is its TLS, if it speaks that.
  func connectionBegan(_ connection: OpaquePointer, socket: Int32, session: OpaquePointer?) {
    let key = UInt(bitPattern: connection)
    if let session = unsafe session {
      let isGood = gate.withCredentials { credentials in
        guard let credentials, let handshakes else { return false }
        return unsafe handshakes.began(connection, session: session, socket: socket, credentials)
      }
      if !isGood { shut(socket) }
    }
    if case .unix = listener {} else { limitSendBuffer(of: socket) }
    let idle = state.withState { state in
      state.began &+= 1
      return state.table.began(key, socket: socket, at: loop.now())
    }
    shut(idle)
  }

  func connectionEnded(_ key: UInt) {
    handshakes?.ended(key)
    state.withState { state in
      state.table.ended(key)
      state.ended &+= 1
    }
  }

  func requestBegan(_ key: UInt) { state.withState { $0.table.requestBegan(key, at: loop.now()) } }

  func answerBegan(_ key: UInt) { state.withState { $0.table.answerBegan(key, at: loop.now()) } }

  func clientTook(_ key: UInt) { state.withState { $0.table.took(key, at: loop.now()) } }

  func requestEnded(_ key: UInt) { shut(state.withState { $0.table.requestEnded(key, at: loop.now()) }) }

  /// Makes an idle connection's way out: the library sees the end of the stream and closes.
  private func shut(_ idle: Int32?) {
    if let idle { _ = shutdown(idle, Int32(SHUT_RDWR)) }
  }

  private func limitSendBuffer(of socket: Int32) {
    var size = Self.sendBuffer
    _ = unsafe setsockopt(socket, SOL_SOCKET, SO_SNDBUF, &size, socklen_t(MemoryLayout<Int32>.size))
  }

  // MARK: Late answers

  /// Says how the library is made to run.
  func onResume(_ run: @escaping @Sendable () -> Void) { runner.onRun(run) }

  /// Has `handler` see to what becomes of a request: returns what that is at once, or suspends the connection until it
  /// is known.
  func promise(
    _ handler: (HTTPReply) -> Void, _ incoming: IncomingRequest, _ connection: OpaquePointer
  ) -> Outcome? {
    let number: UInt64? = state.withState { state in
      guard !state.isEnding else { return nil }
      state.nextPromise &+= 1
      state.current = (state.nextPromise, nil, limits.reply)
      return state.nextPromise
    }
    guard let number else { return .answer(Self.ending) }
    handler(HTTPReply(number: number, context: self))
    return state.withState { state in
      defer { state.current = nil }
      if let outcome = state.current?.outcome { return outcome }
      let limit = state.current?.limit ?? limits.reply
      unsafe MHD_suspend_connection(connection)
      state.promises[number] = unsafe Promise(
        connection: connection, incoming: incoming, due: loop.now().advanced(by: limit))
      state.table.answerPromised(UInt(bitPattern: connection))
      return nil
    }
  }

  /// Gives the answer of a handler that is being called so long.
  func allow(_ number: UInt64, _ duration: Duration) {
    state.withState { if $0.current?.number == number { $0.current?.limit = duration } }
  }

  /// Says what becomes of a request that waits.
  func settle(_ number: UInt64, _ outcome: Outcome) {
    state.withState { state in
      if state.current?.number == number {
        if state.current?.outcome == nil { state.current?.outcome = outcome }
      } else if let promise = state.promises.removeValue(forKey: number) {
        promise.incoming.outcome = outcome
        unsafe MHD_resume_connection(promise.connection)
        // Nothing about the library's epoll descriptor tells of that.
        runner.runSoon()
      }
    }
  }

  /// Answers for everybody who waits, and lets nobody wait from now on: before the library ends, no connection may be
  /// suspended.
  func end() {
    state.withState { $0.isEnding = true }
    breakPromises(dueBy: .distantFuture, Self.ending)
    handshakes?.stop()
  }

  private static var ending: HTTPResponse { .text("reachd stops\n", status: 503) }

  /// Answers for those who have not by then.
  private func breakPromises(dueBy now: Instant, _ response: HTTPResponse) {
    let overdue = state.withState { state in state.promises.filter { $0.value.due <= now }.map(\.key) }
    for number in overdue { settle(number, .answer(response)) }
  }

  // MARK: Slow clients

  /// Looks for connections that have had their time, from now on until `stopSweeping`.
  func startSweeping() {
    let shortest = min(limits.request, limits.answer, limits.idle, limits.reply)
    state.withState { state in
      let pause = max(.milliseconds(20), shortest / (state.table.isFull ? 12 : 4))
      guard !state.isStopped else { return }
      state.timer = loop.schedule(at: loop.now().advanced(by: pause)) { [weak self] in self?.sweep() }
    }
  }

  func stopSweeping() {
    state.withState { state in
      state.isStopped = true
      if let timer = state.timer { loop.cancel(timer) }
      state.timer = nil
    }
  }

  private func sweep() {
    breakPromises(dueBy: loop.now(), .text("no answer in time\n", status: 504))
    for socket in state.withState({ $0.table.overdue(at: loop.now()) }) {
      // What has not been read is of no use any more: the kernel need not go on to offer it (socket(7)).
      var forget = linger(l_onoff: 1, l_linger: 0)
      _ = unsafe setsockopt(socket, SOL_SOCKET, SO_LINGER, &forget, socklen_t(MemoryLayout<linger>.size))
      _ = shutdown(socket, Int32(SHUT_RDWR))
    }
    startSweeping()
  }
}
