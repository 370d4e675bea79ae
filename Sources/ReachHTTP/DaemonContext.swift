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

  private struct State {
    /// By the address of the library's own record, which is all that tells connections apart.
    var connections: [UInt: Connection] = [:]
    var ended = 0
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
