import ReachCore
import ReachIO
import ReachTestSupport

/// A service that greets everybody who connects, until it hangs: then it accepts and says nothing.
///
/// Isolation: on its event loop.
final class GreetingService: Sendable {
  let port: TestPort
  private let isHung: LoopConfined<Bool>
  private let task: Task<Void, Never>

  init(saying text: String, on address: IPAddress, loop: EventLoop) throws {
    let port = try TestPort(.open, on: address)
    let isHung = LoopConfined(false, on: loop)
    self.port = port
    self.isHung = isHung
    task = loop.spawn {
      while let socket = try? await port.acceptNext(on: loop) {
        if !isHung.withState({ $0 }) { _ = try? socket.send(Array(text.utf8)) }
        loop.spawn {
          _ = try? await loop.wait(on: socket.number, for: .peerClosed, until: .distantFuture)
          socket.close()
        }
      }
    }
  }

  deinit { task.cancel() }

  func hang(_ hangs: Bool) { isHung.withState { $0 = hangs } }
}
