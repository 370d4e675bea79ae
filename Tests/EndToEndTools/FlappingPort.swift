import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

/// A TCP port of the loopback address that opens and closes as a test wants it, and belongs to the test meanwhile.
final class FlappingPort: Sendable {
  /// Its number.
  let number: UInt16
  private let socket: Descriptor

  /// A closed port.
  init() throws {
    // A number that the kernel chose is given back when listening ends; one that was asked for is kept.
    let free = try TestPort(.closed).number
    let socket = Descriptor(owning: try Socket.openTCP(.ipv4).number)
    var one: Int32 = 1
    _ = unsafe setsockopt(socket.number, SOL_SOCKET, SO_REUSEADDR, &one, socklen_t(MemoryLayout<Int32>.size))
    try Socket(number: socket.number).bind(to: SocketAddress(.loopback, port: free))
    number = free
    self.socket = socket
  }

  func open() { _ = listen(socket.number, 4_096) }
  func close() { _ = shutdown(socket.number, Int32(SHUT_RDWR)) }
}
