internal import ReachCore
internal import ReachIO

/// Why a stream came to an end before its time.
enum StreamFailure: Error, Hashable, CustomStringConvertible {
  /// The deadline passed.
  case deadline
  /// Nobody wants the answer any more.
  case cancelled
  /// The network, the peer or this host ended it.
  case system(SystemError)
  /// TLS ended it, for this reason.
  case tls(String)
  /// The peer ended it by an alert of TLS, which says this.
  case refused(String)

  var description: String {
    switch self {
    case .deadline: "the time is over"
    case .cancelled: "cancelled"
    case .system(let error): "\(error)"
    case .tls(let why), .refused(let why): why
    }
  }
}

/// A connection, or what TLS makes of one. Isolation: from a task on the event loop.
protocol ByteStream: Sendable {
  /// Waits for some octets, at most so many. None at all mean that the peer has ended the stream.
  func read(upTo count: Int) async throws(StreamFailure) -> [UInt8]
  /// Sends all of the octets.
  func write(_ octets: [UInt8]) async throws(StreamFailure)
  /// Lets others on the loop have their turn. Throws when the time is over or nobody wants the answer any more: a peer
  /// that always has something to say is not waited for, and this is what ends it.
  func pause() async throws(StreamFailure)
}

/// A connection as it is.
struct PlainStream: ByteStream {
  let socket: Socket
  let deadline: Instant
  let loop: EventLoop

  func read(upTo count: Int) async throws(StreamFailure) -> [UInt8] {
    try await pause()
    while true {
      let octets: [UInt8]?
      do throws(SystemError) { octets = try socket.receive(upTo: count) } catch { throw .system(error) }
      if let octets { return octets }
      try await wait(for: .readable)
    }
  }

  func write(_ octets: [UInt8]) async throws(StreamFailure) {
    var rest = octets[...]
    while !rest.isEmpty {
      let sent: Int?
      do throws(SystemError) { sent = try socket.send(rest) } catch { throw .system(error) }
      if let sent { rest = rest.dropFirst(sent) } else { try await wait(for: .writable) }
    }
  }

  func pause() async throws(StreamFailure) {
    let now = loop.now()
    guard now < deadline else { throw .deadline }
    if Task.isCancelled { throw .cancelled }
    if await loop.sleep(until: now) == .cancelled { throw .cancelled }
  }

  /// Suspends until the socket is ready for that.
  func wait(for interest: Readiness) async throws(StreamFailure) {
    let outcome: WaitOutcome
    do throws(SystemError) {
      outcome = try await loop.wait(on: socket.number, for: interest, until: deadline)
    } catch {
      throw .system(error)
    }
    switch outcome {
    case .ready: return
    case .deadline: throw .deadline
    case .cancelled: throw .cancelled
    }
  }
}
