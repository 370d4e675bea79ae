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
    /// The promise whose handler is being called, and the answer, if that came at once.
    var current: (number: UInt64, response: HTTPResponse?)?
    /// Lets the library do what can be done.
    var run: (@Sendable () -> Void)?
    var began = 0
    var timer: TimerID?
    var isStopped = false
  }

  /// What the kernel may hold of an answer that is not read: enough to keep a path of 100 ms busy, and a bound on what
  /// many slow readers cost. Left to itself it would grow to 4 MiB each (net.ipv4.tcp_wmem, tcp(7)).
  private static let sendBuffer: Int32 = 128 * 1024

  init(
    on loop: EventLoop, routes: HTTPRoutes, limits: HTTPLimits, observer: @escaping HTTPServer.Observer,
    listener: ListenAddress
  ) {
    self.loop = loop
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

  func connectionBegan(_ key: UInt, socket: Int32) {
    if case .unix = listener {} else { limitSendBuffer(of: socket) }
    let idle = state.withState { state in
      state.began &+= 1
      return state.table.began(key, socket: socket, at: loop.now())
    }
    shut(idle)
  }

  func connectionEnded(_ key: UInt) {
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
  func onResume(_ run: @escaping @Sendable () -> Void) { state.withState { $0.run = run } }

  /// Has `handler` answer: returns what it answers at once, or suspends the connection until it does.
  func promise(
    _ handler: (HTTPReply) -> Void, _ incoming: IncomingRequest, _ connection: OpaquePointer
  ) -> HTTPResponse? {
    let number = state.withState { state in
      state.nextPromise &+= 1
      state.current = (state.nextPromise, nil)
      return state.nextPromise
    }
    handler(HTTPReply(number: number, context: self))
    return state.withState { state in
      defer { state.current = nil }
      if let response = state.current?.response { return response }
      unsafe MHD_suspend_connection(connection)
      state.promises[number] = unsafe Promise(
        connection: connection, incoming: incoming, due: loop.now().advanced(by: limits.reply))
      state.table.answerPromised(UInt(bitPattern: connection))
      return nil
    }
  }

  func answer(_ number: UInt64, _ response: HTTPResponse) {
    state.withState { state in
      if state.current?.number == number {
        if state.current?.response == nil { state.current?.response = response }
      } else if let promise = state.promises.removeValue(forKey: number) {
        promise.incoming.response = response
        unsafe MHD_resume_connection(promise.connection)
        // Nothing about the library's epoll descriptor tells of that.
        if let run = state.run { loop.schedule(at: loop.now(), run) }
      }
    }
  }

  /// Answers for those who have not by then. Before the library ends, every connection must have been taken up again.
  func breakPromises(dueBy now: Instant, _ response: HTTPResponse) {
    let overdue = state.withState { state in state.promises.filter { $0.value.due <= now }.map(\.key) }
    for number in overdue { answer(number, response) }
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
