internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachIO

extension NetlinkSession {
  /// The kernel's answer to a request for one thing.
  enum Reply {
    case message(NetlinkMessage)
    case refused(NetlinkAck)
    case fault(FaultCode)
  }

  /// The most datagrams that are looked at for one answer: an end to what strays can cost.
  private static var patience: Int { 64 }

  /// Sends a request that is answered by one message, and takes the answer.
  func exchange(_ request: NetlinkRequest) -> Reply {
    state.withState { state in
      let reply = attempt(request, &state)
      // The answer was lost or did not fit; the buffer has been made to fit. Asked once more, since nothing was changed.
      if case .fault(let code) = reply, code.errno == ENOBUFS || code.errno == EMSGSIZE {
        return attempt(request, &state)
      }
      return reply
    }
  }

  private func attempt(_ request: NetlinkRequest, _ state: inout State) -> Reply {
    if let code = start(request, &state) { return .fault(code) }
    for _ in 0..<Self.patience {
      switch socket.receive(into: &state.answer) {
      case .datagram(let count):
        if let reply = find(count, &state) { return reply }
      case .truncated(let count):
        state.makeRoom(for: count)
        return .fault(FaultCode(errno: EMSGSIZE))
      case .stray: state.counters.strays &+= 1
      case .nothing: return .fault(FaultCode(errno: EAGAIN))
      case .failed(let code): return .fault(code)
      }
    }
    return .fault(FaultCode(errno: EAGAIN))
  }

  /// Sends the request under a new sequence number. Returns nil, or why it did not go.
  func start(_ request: NetlinkRequest, _ state: inout State) -> FaultCode? {
    state.sequence &+= 1
    // 0 is the number of events.
    if state.sequence == 0 { state.sequence = 1 }
    state.counters.requests &+= 1
    request.encode(into: &state.request, sequence: state.sequence)
    return socket.send(state.request)
  }

  /// Looks through one datagram for the answer to the request last sent.
  private func find(_ count: Int, _ state: inout State) -> Reply? {
    let answer = state.answer  // a second reference, not a copy: a span of the state's own would bar its counters
    let bytes = unsafe answer.span.bytes.extracting(0..<count)
    var cursor = MessageCursor()
    do throws(MalformedMessage) {
      while let header = try cursor.next(in: bytes) {
        guard header.sequence == state.sequence, header.port == socket.port else {
          state.counters.strays &+= 1
          continue
        }
        let message = try NetlinkMessage(header, in: bytes)
        if case .acknowledgement(let ack) = message { return .refused(ack) }
        return .message(message)
      }
    } catch {
      state.counters.malformed &+= 1
      return .fault(FaultCode(errno: EPROTO))
    }
    return nil
  }
}

extension NetlinkSession.State {
  /// Makes the buffer hold a datagram of that length, as far as that is sensible.
  mutating func makeRoom(for count: Int) {
    let limit = 1 << 20
    guard count > answer.count, answer.count < limit else { return }
    answer = [UInt8](repeating: 0, count: min(limit, max(count, answer.count &* 2)))
  }
}
