internal import ReachCore
internal import ReachIO

extension DNSExchange {
  /// Asks in datagrams. One can be lost without anybody's fault, so the query is sent again when nothing has come after a
  /// second, or a third of the time if that is less, and then after twice as long each time.
  func askOverUDP() async -> Course {
    do throws(SystemError) {
      let socket = try dial.openUDP()
      defer { socket.close() }
      var conversation = Datagrams(exchange: self, socket: socket)
      return await conversation.run()
    } catch {
      return Course(result: .failure(DNSFailure(error)))
    }
  }
}

/// The queries and answers of one exchange over a UDP socket.
private struct Datagrams {
  private static let mostRetries = 3
  /// More than are read at a time would keep the loop from other things.
  private static let mostReads = 16

  let exchange: DNSExchange
  let socket: Socket
  private let id = DNSExchange.newID()
  private let start: Instant
  private var course = DNSExchange.Course(result: .failure(.timedOut(nil)))
  private var complaint: SystemError?

  init(exchange: DNSExchange, socket: Socket) {
    self.exchange = exchange
    self.socket = socket
    start = exchange.loop.now()
  }

  mutating func run() async -> DNSExchange.Course {
    course.result = await result()
    course.request = exchange.loop.now().since(start)
    return course
  }

  private mutating func result() async -> Result<DNSReader, DNSFailure> {
    let loop = exchange.loop
    let deadline = exchange.dial.deadline
    let query = exchange.message.bytes(id: id)
    var patience = min(.seconds(1), deadline.since(start) / 3)
    var nextQuery = start
    while true {
      let now = loop.now()
      if now >= deadline { return .failure(.timedOut(complaint)) }
      if now >= nextQuery {
        if let failure = send(query) { return .failure(failure) }
        if nextQuery > start { course.retries += 1 }
        nextQuery = course.retries < Self.mostRetries ? nextQuery.advanced(by: patience) : .distantFuture
        patience *= 2
      }
      do throws(SystemError) {
        switch try await loop.wait(on: socket.number, for: .readable, until: min(deadline, nextQuery)) {
        case .ready: if let result = receive() { return result }
        case .deadline: break
        case .cancelled: return .failure(.cancelled)
        }
      } catch {
        return .failure(DNSFailure(error))
      }
    }
  }

  /// Sends the query. What the kernel does not take now is lost, like any other datagram.
  private mutating func send(_ query: [UInt8]) -> DNSFailure? {
    do throws(SystemError) {
      _ = try socket.send(query)
      return nil
    } catch {
      return end(error)
    }
  }

  /// Looks at what has come. Returns how the exchange ends, nil when it goes on.
  private mutating func receive() -> Result<DNSReader, DNSFailure>? {
    for _ in 0..<Self.mostReads {
      do throws(SystemError) {
        guard let bytes = try socket.receive(upTo: 65_535) else { break }
        let reader = DNSReader(bytes)
        if exchange.message.isAnswered(by: reader, id: id) { return .success(reader) }
        course.strangers += 1
      } catch {
        if let failure = end(error) { return .failure(failure) }
      }
    }
    while let queued = socket.takeQueuedError() {
      if let failure = end(SystemError("recv", queued.code)) { return .failure(failure) }
    }
    return nil
  }

  /// How an error ends the exchange; nil when it does not.
  private mutating func end(_ error: SystemError) -> DNSFailure? {
    let failure = DNSFailure(error)
    guard failure.isComplaint else { return failure }
    complaint = error
    return nil
  }
}
