internal import CMicroHTTPD
internal import Glibc
internal import ReachCore
internal import ReachIO

/// The handshakes of a listening address: they wait for their clients at no cost, and begin at a pace that leaves the
/// loop to the probes.
///
/// Isolation: on the event loop.
final class TLSHandshakes: Sendable {
  private struct State {
    var connections: [UInt: TLSConnection] = [:]
    /// The sockets of handshakes that wait for the client.
    var watches: [UInt: EventLoop.Watch] = [:]
    /// Connections whose handshake waits for its turn.
    var queue: [UInt] = []
    var pace: HandshakePace
    var timer: TimerID?
    var isStopping = false
  }

  private let loop: EventLoop
  private let state: LoopConfined<State>
  private let runSoon: @Sendable () -> Void

  /// None yet. `runSoon` has the library run in the loop's next turn.
  init(on loop: EventLoop, _ runSoon: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.runSoon = runSoon
    state = LoopConfined(State(pace: HandshakePace()), on: loop)
  }

  /// A connection has begun. Returns whether it can speak TLS.
  func began(
    _ connection: OpaquePointer, session: OpaquePointer, socket: Int32, _ credentials: TLSCredentials
  ) -> Bool {
    let made = unsafe TLSConnection(connection, session: session, socket: socket, credentials, self)
    // Kept even if GnuTLS objects, since the session knows of it.
    state.withState { $0.connections[UInt(bitPattern: connection)] = made }
    return made.begin()
  }

  /// A connection has ended, and its session with it.
  func ended(_ key: UInt) {
    state.withState { state in
      if let watch = state.watches.removeValue(forKey: key) { loop.unwatch(watch) }
      state.connections[key] = nil
      state.queue.removeAll { $0 == key }
    }
  }

  /// Whether this handshake may begin now; one that may not is suspended, and waits for its turn.
  func mayBegin(_ connection: TLSConnection) -> Bool {
    state.withState { state in
      if state.isStopping || state.queue.isEmpty && mayBegin(connection, &state) {
        connection.permit()
        return true
      }
      suspend(connection)
      state.queue.append(Self.key(connection))
      awaitTurn(&state)
      return false
    }
  }

  /// Suspends a connection until its client has sent more, or has gone. Returns false when the server stops.
  func awaitClient(_ connection: TLSConnection) -> Bool {
    let key = Self.key(connection)
    return state.withState { state in
      guard !state.isStopping else { return false }
      suspend(connection)
      do {
        state.watches[key] = try loop.watch(connection.socket, for: .readable) { [weak self] _ in self?.resume(key) }
      } catch {
        // The kernel has no room for another watch: there is nothing left but to look again.
        loop.schedule(at: loop.now().advanced(by: Self.pause)) { [weak self] in self?.resume(key) }
      }
      return true
    }
  }

  /// Takes every connection up again, to be closed: before the library ends, none may be suspended.
  func stop() {
    state.withState { state in
      state.isStopping = true
      if let timer = state.timer { loop.cancel(timer) }
      state.timer = nil
      state.queue = []
      for (key, connection) in state.connections {
        if let watch = state.watches.removeValue(forKey: key) { loop.unwatch(watch) }
        takeUp(connection)
      }
    }
  }

  // MARK: Turns

  private static let pause = Duration.milliseconds(50)

  private static func key(_ connection: TLSConnection) -> UInt { unsafe UInt(bitPattern: connection.connection) }

  private func mayBegin(_ connection: TLSConnection, _ state: inout State) -> Bool {
    state.pace.mayBegin(at: loop.now(), inTurn: loop.turns, every: connection.credentials.handshakeInterval)
  }

  private func awaitTurn(_ state: inout State) {
    guard state.timer == nil else { return }
    // Never in this turn: a timer that is due waits for the next one.
    let due = max(loop.now(), state.pace.nextBeginning)
    state.timer = loop.schedule(at: due) { [weak self] in self?.takeTurns() }
  }

  private func takeTurns() {
    state.withState { state in
      state.timer = nil
      while let key = state.queue.first {
        guard let connection = state.connections[key] else {
          state.queue.removeFirst()
          continue
        }
        guard mayBegin(connection, &state) else { return awaitTurn(&state) }
        state.queue.removeFirst()
        connection.permit()
        takeUp(connection)
      }
    }
  }

  private func resume(_ key: UInt) {
    state.withState { state in
      if let watch = state.watches.removeValue(forKey: key) { loop.unwatch(watch) }
      if let connection = state.connections[key] { takeUp(connection) }
    }
  }

  private func suspend(_ connection: TLSConnection) {
    connection.isSuspended = true
    unsafe MHD_suspend_connection(connection.connection)
  }

  private func takeUp(_ connection: TLSConnection) {
    guard connection.isSuspended else { return }
    connection.isSuspended = false
    unsafe MHD_resume_connection(connection.connection)
    runSoon()
  }
}

/// When a handshake may begin: each costs the loop a millisecond or several, by which probes are late. A plain value.
struct HandshakePace {
  /// So many may come close together, though never two in one turn of the loop.
  static let burst = 25

  private var bucket = TokenBucket(interval: .milliseconds(10), burst: HandshakePace.burst)
  private var lastTurn: UInt64?

  /// Whether one may begin, which then counts; `interval` is the time in which there may be one when they come without end.
  mutating func mayBegin(at now: Instant, inTurn turn: UInt64, every interval: Duration) -> Bool {
    bucket.interval = interval
    guard turn != lastTurn, bucket.take(at: now) else { return false }
    lastTurn = turn
    return true
  }

  /// When there is one to be had.
  var nextBeginning: Instant { bucket.nextToken }
}
