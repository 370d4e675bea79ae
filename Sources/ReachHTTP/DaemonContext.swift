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

  private struct Connection {
    var socket: Int32
    /// When it began, or when its last request had been answered.
    var waitingSince: Instant
    var isBusy = false
  }

  /// A request that waits for its answer. Its connection is suspended, so the library does not end it.
  @safe
  private struct Promise {
    let connection: OpaquePointer
    let incoming: IncomingRequest
    let due: Instant
  }

  private struct State {
    /// By the address of the library's own record, which is all that tells connections apart.
    var connections: [UInt: Connection] = [:]
    var ended = 0
    var promises: [UInt64: Promise] = [:]
    var nextPromise: UInt64 = 0
    /// The promise whose handler is being called, and the answer, if that came at once.
    var current: (number: UInt64, response: HTTPResponse?)?
    /// Lets the library do what can be done.
    var run: (@Sendable () -> Void)?
    var timer: TimerID?
    var isStopped = false
  }

  init(
    on loop: EventLoop, routes: HTTPRoutes, limits: HTTPLimits, observer: @escaping HTTPServer.Observer,
    listener: ListenAddress
  ) {
    self.loop = loop
    self.routes = routes
    self.limits = limits
    self.observer = observer
    self.listener = listener
    state = LoopConfined(State(), on: loop)
  }

  /// How many requests have arrived whole and are being answered.
  var activeRequests: Int { state.withState { $0.connections.values.count(where: \.isBusy) } }

  /// How many connections have come to their end.
  var endedConnections: Int { state.withState { $0.ended } }

  func connectionBegan(_ key: UInt, socket: Int32) {
    state.withState { $0.connections[key] = Connection(socket: socket, waitingSince: loop.now()) }
  }

  func connectionEnded(_ key: UInt) {
    state.withState { state in
      state.connections[key] = nil
      state.ended &+= 1
    }
  }

  func requestArrived(_ key: UInt) { state.withState { $0.connections[key]?.isBusy = true } }

  func requestEnded(_ key: UInt) {
    state.withState { state in
      state.connections[key]?.isBusy = false
      state.connections[key]?.waitingSince = loop.now()
    }
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
      state.connections[UInt(bitPattern: connection)]?.isBusy = true
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

  /// The library's own timeout starts anew with every byte, so that a client could hold a connection for ever by sending
  /// one now and then. Connections without a whole request for too long are therefore looked for and shut.
  func startSweeping() {
    let pause = max(.milliseconds(50), limits.request / 4)
    state.withState { state in
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
    let limit = loop.now().advanced(by: .zero - limits.request)
    state.withState { state in
      for connection in state.connections.values where !connection.isBusy && connection.waitingSince < limit {
        // The library sees the end of the stream and closes.
        _ = shutdown(connection.socket, Int32(SHUT_RDWR))
      }
    }
    startSweeping()
  }
}
