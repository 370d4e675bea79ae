import ReachCore
import ReachIO
import ReachTestSupport

/// A service on a port that the kernel chose, which says one thing to everybody who connects.
final class Greeter: Sendable {
  let port: TestPort
  private let task: Task<Void, Never>

  /// Starts it on the loop. With nothing to say it is silent and keeps every connection.
  init(saying text: String?, thenCloses: Bool = false, on address: IPAddress = .loopback, loop: EventLoop) throws {
    let port = try TestPort(.open, on: address)
    self.port = port
    task = loop.spawn {
      while let socket = try? await port.acceptNext(on: loop) {
        if let text { _ = try? socket.send(Array(text.utf8)) }
        if thenCloses {
          socket.close()
        } else {
          loop.spawn {
            _ = try? await loop.wait(on: socket.number, for: .peerClosed, until: .distantFuture)
            socket.close()
          }
        }
      }
    }
  }

  deinit { task.cancel() }
}
