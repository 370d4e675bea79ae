internal import CMicroHTTPD
internal import Glibc
public import ReachCore
public import ReachIO

/// Answers HTTP/1.1 on the event loop, by libmicrohttpd: no thread is made, no call blocks.
///
/// Each listening address has a daemon of the library's, whose epoll descriptor is watched in our own; the library runs
/// when that is ready or when its own timeouts are due.
public final class HTTPServer: Sendable {
  /// Told of each answer, on the loop: the route's path (`HTTPRoutes.otherPath` for none) and the status code.
  public typealias Observer = @Sendable (_ path: String, _ code: Int) -> Void

  private let loop: EventLoop
  private let routes: HTTPRoutes
  private let limits: HTTPLimits
  private let observer: Observer
  private let gate: HTTPGate
  private let daemons: LoopConfined<[HTTPDaemon]>

  /// A server that listens to nobody yet.
  public init(
    on loop: EventLoop, routes: HTTPRoutes, limits: HTTPLimits = HTTPLimits(),
    observer: @escaping Observer = { _, _ in }
  ) {
    self.loop = loop
    self.routes = routes
    self.limits = limits
    self.observer = observer
    gate = HTTPGate(on: loop)
    daemons = LoopConfined([], on: loop)
  }

  /// Begins to listen on all of these addresses, or throws and listens on none of them. On the event loop, or before it
  /// runs.
  public func listen(on addresses: [ListenAddress]) throws(HTTPServerError) {
    var started: [HTTPDaemon] = []
    for address in addresses {
      do {
        let socket = try ListenSocket.open(address)
        started.append(
          try HTTPDaemon(
            on: loop, wanted: address, socket: socket, routes: routes, limits: limits, gate: gate, observer: observer))
      } catch {
        for daemon in started { daemon.stop() }
        throw HTTPServerError(address: address, cause: error)
      }
    }
    daemons.withState { $0 += started }
  }

  /// Listens on exactly these addresses from now on: those that are new are opened first, and those that are left out get
  /// no more clients, while answers under way on them may take `patience` to end. Throws, and changes nothing, when a
  /// new one cannot be had.
  public func change(to addresses: [ListenAddress], patience: Duration = .seconds(5)) throws(HTTPServerError) {
    let known = daemons.withState { $0 }
    try listen(on: addresses.filter { address in !known.contains { $0.wanted == address } })
    let retired = known.filter { !addresses.contains($0.wanted) }
    guard !retired.isEmpty else { return }
    daemons.withState { daemons in daemons.removeAll { daemon in retired.contains { $0 === daemon } } }
    loop.spawn { [loop] in await Self.end(retired, by: loop.now().advanced(by: patience), on: loop) }
  }

  /// Puts a policy in force: for requests at once, for certificates with the next connection. Files are read anew, so that
  /// a certificate which has been replaced is taken by applying the same policy again. Returns what about it may not be as
  /// it is meant.
  ///
  /// Throws why its certificate cannot be used; what was in force before then stays so. When TLS begins or ends, answers
  /// under way have two seconds to end, and every connection is closed. On the event loop, or before it runs.
  @discardableResult
  public func apply(_ policy: HTTPPolicy) throws(TLSProblem) -> [TLSProblem] {
    let before = gate.rules
    let warnings = try gate.apply(policy)
    guard gate.isSecure != before.isSecure else { return warnings }
    do throws(SystemError) {
      try exchangeDaemons()
    } catch {
      gate.rules = before
      throw TLSProblem(.other, "TLS cannot be turned on or off now (\(error)); restart reachd")
    }
    return warnings
  }

  /// Whether connections speak TLS.
  public var isSecure: Bool { gate.isSecure }

  /// Has new daemons take the sockets over, since the library's speak TLS from their start or never.
  private func exchangeDaemons() throws(SystemError) {
    let old = daemons.withState { $0 }
    var started: [HTTPDaemon] = []
    do throws(SystemError) {
      for daemon in old {
        started.append(
          try HTTPDaemon(
            on: loop, wanted: daemon.wanted, socket: try daemon.shareSocket(), routes: routes, limits: limits,
            gate: gate, observer: observer))
      }
    } catch {
      for daemon in started { daemon.stop() }
      throw error
    }
    for (daemon, successor) in zip(old, started) { successor.takeFile(of: daemon) }
    daemons.withState { $0 = started }
    guard !old.isEmpty else { return }
    loop.spawn { [loop] in await Self.end(old, by: loop.now().advanced(by: .seconds(2)), on: loop) }
  }

  /// The addresses that are listened on, with the ports the kernel chose.
  public var addresses: [ListenAddress] { daemons.withState { $0.map(\.address) } }

  /// How many connections are open.
  public var connections: Int { daemons.withState { $0 }.reduce(0) { $0 + $1.connections } }

  /// Whether the library runs without a thread of its own, as it must.
  public var isThreadless: Bool { daemons.withState { $0 }.allSatisfy(\.isThreadless) }

  /// Stops listening at once, lets answers that are under way end until `deadline`, then closes every connection.
  ///
  /// Call it from a task on the loop, not from a handler.
  public func stop(by deadline: Instant) async {
    let stopping = daemons.withState { daemons in
      defer { daemons = [] }
      return daemons
    }
    await Self.end(stopping, by: deadline, on: loop)
  }

  private static func end(_ daemons: [HTTPDaemon], by deadline: Instant, on loop: EventLoop) async {
    for daemon in daemons { daemon.quiesce() }
    while daemons.contains(where: \.isBusy), loop.now() < deadline, !Task.isCancelled {
      await loop.sleep(until: min(deadline, loop.now().advanced(by: .milliseconds(5))))
    }
    for daemon in daemons { daemon.stop() }
  }
}

/// Why an address cannot be listened on.
public struct HTTPServerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The address.
  public let address: ListenAddress
  /// What the kernel said.
  public let cause: SystemError

  /// For people: the address, the cause and what to do.
  public var description: String {
    let remedy =
      switch cause.code.errno {
      case EADDRINUSE: "; another process listens there: stop it or choose another address"
      case EEXIST: "; a file that is no socket is there: remove it or choose another path"
      case EADDRNOTAVAIL: "; no interface of this host has that address"
      case EACCES, EPERM: "; that takes more rights: " + permission
      case EAFNOSUPPORT: "; " + Surroundings.current.remedy(for: .families([family]))
      case ENOENT: "; the folder does not exist"
      default: ""
      }
    return "cannot listen on \(address): \(cause)\(remedy)"
  }

  private var permission: String {
    if case .unix(let path) = address {
      let folder = path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex)
      return Surroundings.current.remedy(for: .writing(String(folder)))
    }
    return "choose a port from 1024 on, or "
      + Surroundings.current.remedy(for: .capability("CAP_NET_BIND_SERVICE", isVoid: false))
  }

  private var family: String {
    switch address {
    case .unix: "AF_UNIX"
    case .address(let address, port: _) where address.family == .ipv4: "AF_INET"
    default: "AF_INET6"
    }
  }
}
