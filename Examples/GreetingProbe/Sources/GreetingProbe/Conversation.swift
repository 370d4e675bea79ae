internal import ReachCore
internal import ReachIO

/// One connection, from its socket to the end of the greeting: the owner of the socket.
struct Conversation {
  let peer: SocketAddress
  let source: Source
  let loop: EventLoop

  /// What the target wants its sockets bound to.
  struct Source {
    var interface: String?
    var mark: UInt32?
    var address: SocketAddress?
  }

  /// Connects and listens until the greeting can be judged, the deadline passes or the task is cancelled.
  ///
  /// Throws when this process may not have such a socket: that holds for every address alike.
  func hold(
    _ greeting: inout Greeting, until deadline: Instant
  ) async throws(LocalFault) -> TCPFinding {
    let startedAt = loop.now()
    let socket: Socket
    do throws(SystemError) {
      socket = try Socket.openTCP(peer.address.family)
    } catch {
      return TCPFinding(.fault(error.code))
    }
    // Whatever happens, also a cancellation: nothing stays open, and no TIME_WAIT behind.
    defer {
      socket.resetOnClose()
      socket.close()
    }
    do throws(SystemError) {
      try bind(socket)
      if try !socket.connect(to: peer) {
        switch try await loop.wait(on: socket.number, for: .writable, until: deadline) {
        case .ready: break
        case .deadline: return finding(.failed(.tcpTimeout), since: startedAt)
        case .cancelled: return TCPFinding(.notRun)
        }
      }
    } catch {
      if let fault = error.permissionFault() { throw fault }
      return finding(Outcome.immediate(error.code), since: startedAt)
    }
    if let code = socket.takeError() { return finding(Outcome.later(code), since: startedAt) }
    let result = await listen(on: socket, to: &greeting, until: deadline)
    let roundTrip = result == .open ? try? socket.tcpInfo().roundTrip : nil
    return finding(result, roundTrip: roundTrip, since: startedAt)
  }

  private func bind(_ socket: Socket) throws(SystemError) {
    if let interface = source.interface { try socket.bindToDevice(interface) }
    if let mark = source.mark { try socket.setMark(mark) }
    if let address = source.address {
      socket.bindsAddressAlone()
      try socket.bind(to: address)
    }
    // "Host unreachable" and its like end the attempt at once.
    socket.queuesErrors(peer.address.family)
  }

  private func listen(
    on socket: Socket, to greeting: inout Greeting, until deadline: Instant
  ) async -> TCPFinding.Result {
    // Linux can connect a socket to itself, which would wait for its own greeting.
    if socket.localAddress == peer { return .failed(.tcpRefused) }
    do throws(SystemError) {
      while true {
        while let octets = try socket.receive(upTo: greeting.room) {
          // The peer has ended the connection without having greeted.
          if octets.isEmpty { return .failed(.tcpRefused) }
          greeting.take(octets)
          switch greeting.judgement {
          case .right: return .open
          case .wrong: return .failed(.tcpRefused)
          case .incomplete: break
          }
        }
        switch try await loop.wait(on: socket.number, for: .readable, until: deadline) {
        case .ready: break
        case .deadline: return .failed(.tcpTimeout)
        case .cancelled: return .notRun
        }
      }
    } catch {
      return Outcome.later(error.code)
    }
  }

  private func finding(
    _ result: TCPFinding.Result, roundTrip: Duration? = nil, since startedAt: Instant
  ) -> TCPFinding {
    TCPFinding(result, rtt: roundTrip, duration: loop.now().since(startedAt))
  }
}
