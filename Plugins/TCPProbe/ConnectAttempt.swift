internal import Glibc
internal import ReachCore
internal import ReachIO

/// One connection under way: the owner of its socket.
struct ConnectAttempt {
  /// How an open connection is ended.
  enum Closing: Hashable {
    /// With a RST: nothing is left behind on this host.
    case reset
    /// With a FIN: TIME_WAIT stays on this host for a minute.
    case fin
  }

  /// How a beginning ends.
  enum Beginning {
    /// It is over.
    case finished(TCPFinding)
    /// The network has the word.
    case pending(ConnectAttempt)
  }

  let index: Int
  let socket: Socket
  private let entry: ConnectPlan.Entry
  private let closing: Closing
  private let startedAt: Instant
  private let loop: EventLoop

  /// Opens a socket, binds it as asked and begins to connect. Throws when this process may not bind it so.
  static func begin(
    _ entry: ConnectPlan.Entry, binding: ConnectPlan.Binding, closing: Closing, calls: SocketCalls, loop: EventLoop
  ) throws(LocalFault) -> Beginning {
    let socket: Socket
    do throws(SystemError) {
      socket = try calls.open(entry.peer.address.family)
    } catch {
      return .finished(TCPFinding(.fault(error.code)))
    }
    do throws(SystemError) {
      if !binding.isEmpty { try socket.apply(binding) }
      // Nobody but a router has ICMP to tell.
      if entry.route != .local { socket.queuesErrors(entry.peer.address.family) }
      let attempt = ConnectAttempt(
        index: entry.index, socket: socket, entry: entry, closing: closing, startedAt: loop.now(), loop: loop)
      if try calls.connect(socket, entry.peer) || entry.route == .local, let finding = attempt.examine() {
        return .finished(finding)
      }
      return .pending(attempt)
    } catch {
      socket.close()
      if let fault = error.permissionFault() { throw fault }
      return .finished(TCPFinding(ConnectOutcome.immediate(error.code, isRouteFine: entry.route != .unknown)))
    }
  }

  /// Looks how far it has come. A finding means that it is over and the socket closed; nil that the handshake goes on.
  func examine() -> TCPFinding? {
    let info: TCPInfo
    do throws(SystemError) { info = try socket.tcpInfo() } catch { return end(.fault(error.code)) }
    switch info.state {
    case .open: return open(info)
    case .closed: return end(failure() ?? .failed(.tcpRefused))
    case .connecting: return failure(whileConnecting: true).map(end)
    }
  }

  /// Looks for the last time.
  func finish(isLate: Bool) -> TCPFinding {
    if let finding = examine() { return finding }
    if isLate {
      socket.close()
      return TCPFinding(.notRun)
    }
    // Should the answer come between the look and the close, the connection is not to linger.
    socket.resetOnClose()
    return end(.failed(.tcpTimeout))
  }

  /// Ends it without a finding.
  func abandon() { socket.close() }

  private func open(_ info: TCPInfo) -> TCPFinding {
    // A connection to an address of this host can meet its own SYN when the kernel gives it the peer's port.
    if entry.route != .leaving, socket.localAddress == entry.peer {
      socket.resetOnClose()
      return end(.failed(.tcpRefused))
    }
    if closing == .reset { socket.resetOnClose() }
    socket.close()
    // The loop may look late, the kernel does not. But the kernel measures the last SYN, the user waited since the first.
    let measured = info.retransmits == 0 ? info.roundTrip : nil
    return TCPFinding(.open, rtt: info.roundTrip, duration: measured ?? loop.now().since(startedAt))
  }

  private func end(_ result: TCPFinding.Result) -> TCPFinding {
    socket.close()
    return TCPFinding(result, duration: loop.now().since(startedAt))
  }

  /// What the socket holds against the connection, if anything.
  ///
  /// An ICMP error that comes in while connect(2) still holds the socket does not end the handshake, but it is queued
  /// and counts. What the kernel notes without one, such as a route that is gone for a moment, does not: the SYN is
  /// sent again.
  private func failure(whileConnecting: Bool = false) -> TCPFinding.Result? {
    let queued = entry.route == .local ? nil : socket.takeQueuedError()
    if whileConnecting, queued == nil, entry.route != .local { return nil }
    guard let code = socket.takeError() ?? queued?.code else { return nil }
    return ConnectOutcome.later(code, icmp: queued?.icmp)
  }
}

extension Socket {
  fileprivate func apply(_ binding: ConnectPlan.Binding) throws(SystemError) {
    if let interface = binding.interface { try bindToDevice(interface) }
    if let mark = binding.mark { try setMark(mark) }
    if let address = binding.address {
      bindsAddressAlone()
      try bind(to: address)
    }
  }
}
