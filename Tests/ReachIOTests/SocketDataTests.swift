import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct SocketDataTests {
  @Test("a datagram arrives whole, and before it there is nothing")
  func datagrams() async throws {
    try await withEventLoop { loop in
      let (left, right) = try Self.pair()
      defer {
        left.close()
        right.close()
      }
      #expect(try right.receive(upTo: 10) == nil)
      #expect(try left.send([1, 2, 3][...]) == 3)
      #expect(try left.send([]) == 0)
      _ = try await loop.wait(on: right.number, for: .readable, until: .distantFuture)
      #expect(try right.receive(upTo: 10) == [1, 2, 3])
      #expect(try right.receive(upTo: 10) == [])
      #expect(try right.receive(upTo: 10) == nil)
    }
  }

  @Test("nobody at the other end is told by the next call")
  func refused() async throws {
    try await withEventLoop { loop in
      let (left, right) = try Self.pair()
      defer { left.close() }
      right.close()
      #expect(try left.send([1]) == 1)
      _ = try await loop.wait(on: left.number, for: .readable, until: .distantFuture)
      #expect(throws: SystemError("recv", FaultCode(errno: 111))) { try left.receive(upTo: 10) }
    }
  }

  /// Two UDP sockets on loopback that are connected to one another.
  private static func pair() throws -> (Socket, Socket) {
    let left = try Socket.openUDP(.ipv4)
    let right = try Socket.openUDP(.ipv4)
    for socket in [left, right] { try socket.bind(to: SocketAddress(.loopback, port: 0)) }
    _ = try left.connect(to: #require(right.localAddress))
    _ = try right.connect(to: #require(left.localAddress))
    return (left, right)
  }
}
