internal import ReachCore
internal import ReachIO

extension Dial {
  /// A UDP socket that is connected to the peer, so that nobody else's datagrams are received (RFC 5452 section 9.1), and
  /// that tells what routers say. The caller closes it.
  func openUDP() throws(SystemError) -> Socket {
    let socket = try Socket.openUDP(peer.address.family)
    do throws(SystemError) {
      try bind(socket)
      _ = try socket.connect(to: peer)
    } catch {
      socket.close()
      throw error
    }
    socket.queuesErrors(peer.address.family)
    return socket
  }
}
