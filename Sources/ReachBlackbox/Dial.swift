internal import Glibc
internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// One connection to one address.
struct Dial {
  let peer: SocketAddress
  let addressing: ModuleAddressing
  let target: Target
  let host: ProbeHost
  let deadline: Instant

  /// Why there is no connection.
  struct Failure: Error {
    /// For people.
    let what: String
    /// Set when it is for want of something on this host.
    var fault: LocalFault?

    init(_ what: String) { self.what = what }

    init(_ error: SystemError) {
      what = "\(error)"
      fault = error.permissionFault() ?? ModuleProbe.fault(error)
    }
  }

  /// The address to bind to: the module's, or else the declared target's own.
  private var source: IPAddress? {
    if let address = addressing.source ?? target.source.address { return address }
    if case .pair(let local, _) = target.kind { return local }
    return nil
  }

  /// Connects. The caller closes the socket.
  func connect() async throws(Failure) -> Socket {
    let socket: Socket
    do throws(SystemError) { socket = try Socket.openTCP(peer.address.family) } catch { throw Failure(error) }
    do throws(Failure) {
      do throws(SystemError) { try bind(socket) } catch { throw Failure(error) }
      try await finish(socket)
      return socket
    } catch {
      socket.close()
      throw error
    }
  }

  /// Binds a socket to what the module, or the declared target, says.
  func bind(_ socket: Socket) throws(SystemError) {
    if let interface = target.source.interface { try socket.bindToDevice(interface) }
    if let mark = target.source.mark { try socket.setMark(mark) }
    guard let source else { return }
    guard source.family == peer.address.family else { throw SystemError("bind", FaultCode(errno: EAFNOSUPPORT)) }
    socket.bindsAddressAlone()
    try socket.bind(to: SocketAddress(source, port: 0, scope: peer.scope))
  }

  private func finish(_ socket: Socket) async throws(Failure) {
    let stream = PlainStream(socket: socket, deadline: deadline, loop: host.loop)
    do throws(SystemError) {
      if try socket.connect(to: peer) { return try checkPeer(socket) }
    } catch {
      throw Failure(error)
    }
    do throws(StreamFailure) { try await stream.wait(for: .writable) } catch {
      if case .system(let error) = error { throw Failure(error) }
      throw Failure(error == .deadline ? "connect: no answer in time" : "\(error)")
    }
    if let code = socket.takeError() { throw Failure(SystemError("connect", code)) }
    do throws(SystemError) { try checkPeer(socket) } catch { throw Failure(error) }
  }

  /// A connection to an address of this host can meet its own SYN when the kernel gives it the peer's port.
  private func checkPeer(_ socket: Socket) throws(SystemError) {
    guard socket.localAddress == peer else { return }
    socket.resetOnClose()
    throw SystemError("connect", FaultCode(errno: ECONNREFUSED))
  }
}
