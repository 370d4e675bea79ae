internal import ReachCore
internal import ReachIO

/// The system calls whose failures a test cannot stage without harming the tests beside it.
struct SocketCalls: Sendable {
  var open: @Sendable (IPAddress.Family) throws(SystemError) -> Socket
  var connect: @Sendable (Socket, SocketAddress) throws(SystemError) -> Bool

  /// The kernel's own.
  static let system = SocketCalls(
    open: { family throws(SystemError) in try Socket.openTCP(family) },
    connect: { socket, peer throws(SystemError) in try socket.connect(to: peer) })
}
