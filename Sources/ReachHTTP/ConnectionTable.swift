internal import ReachCore

/// The open connections of a listening address, and the policy on which of them have had their time. A plain value,
/// without sockets or a clock.
///
/// The library's own timeout starts anew with every byte that moves, so that a client could hold a connection for ever
/// by one byte now and then. Here each stage has a deadline that no byte puts off.
struct ConnectionTable {
  /// The address of the library's own record, which is all that tells connections apart.
  typealias Key = UInt

  private enum Stage {
    /// Nothing of a request has come; `isFresh` before the first one.
    case waiting(since: Instant, isFresh: Bool)
    /// A request is coming in.
    case receiving(since: Instant)
    /// It has come, and its answer is not there yet.
    case promised
    /// Its answer is going out, and the client last made room for some of it then.
    case answering(progress: Instant)
  }

  /// At the limit of connections others wait, and so everything must go so many times faster.
  private static let haste = 3

  private struct Connection {
    let socket: Int32
    var stage: Stage
  }

  private let limits: HTTPLimits
  private var connections: [Key: Connection] = [:]

  init(limits: HTTPLimits) { self.limits = limits }

  /// How many connections are open.
  var count: Int { connections.count }

  /// Whether the next client must wait for one of these to end.
  var isFull: Bool { connections.count >= Int(limits.connections) }

  /// How many answers are waited for or under way.
  var answers: Int {
    connections.values.count { connection in
      switch connection.stage {
      case .promised, .answering: true
      case .waiting, .receiving: false
      }
    }
  }

  // MARK: What happens

  /// A connection has begun. When it took the last place, the socket to shut is returned, so that the next client need
  /// not wait: that of the connection which has been idle longest, if one is.
  mutating func began(_ key: Key, socket: Int32, at now: Instant) -> Int32? {
    connections[key] = Connection(socket: socket, stage: .waiting(since: now, isFresh: true))
    return isFull ? longestIdle : nil
  }

  /// A connection has ended.
  mutating func ended(_ key: Key) { connections[key] = nil }

  /// The first line of a request has come.
  mutating func requestBegan(_ key: Key, at now: Instant) {
    guard let connection = connections[key] else { return }
    // A fresh connection's time goes on: that for the first request began with it.
    if case .waiting(let since, isFresh: true) = connection.stage {
      connections[key]?.stage = .receiving(since: since)
    } else {
      connections[key]?.stage = .receiving(since: now)
    }
  }

  /// A request has come whole, and its answer will come later: what is suspended cannot be shut.
  mutating func answerPromised(_ key: Key) { connections[key]?.stage = .promised }

  /// A request has come whole, or as far as is needed to answer it.
  mutating func answerBegan(_ key: Key, at now: Instant) { connections[key]?.stage = .answering(progress: now) }

  /// The client has made room for some of the answer. The kernel tells of that only when a good part of its buffer is
  /// free, so one byte now and then is no progress.
  mutating func took(_ key: Key, at now: Instant) {
    if case .answering = connections[key]?.stage { connections[key]?.stage = .answering(progress: now) }
  }

  /// A request has been answered or given up. When there is no place left, the socket to shut is returned.
  mutating func requestEnded(_ key: Key, at now: Instant) -> Int32? {
    connections[key]?.stage = .waiting(since: now, isFresh: false)
    return isFull ? longestIdle : nil
  }

  // MARK: Deadlines

  /// The sockets of connections that have had their time. One that goes on to be open is returned again.
  func overdue(at now: Instant) -> [Int32] {
    let haste = isFull ? Self.haste : 1
    return connections.values.compactMap { connection in
      let (start, limit) =
        switch connection.stage {
        case .waiting(let since, let isFresh): (since, isFresh ? limits.request : limits.idle)
        case .receiving(let since): (since, limits.request)
        case .promised: (now, limits.request)
        case .answering(let progress): (progress, limits.answer)
        }
      return start.advanced(by: limit / haste) <= now ? connection.socket : nil
    }
  }

  private var longestIdle: Int32? {
    var found: (socket: Int32, since: Instant)?
    for connection in connections.values {
      guard case .waiting(let since, isFresh: false) = connection.stage else { continue }
      if found.map({ since < $0.since }) ?? true { found = (connection.socket, since) }
    }
    return found?.socket
  }
}
