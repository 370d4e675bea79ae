internal import ReachCore
internal import ReachIO

/// Does something now and then, for the sake of what is announced nowhere: an alternative name given to an interface that
/// is down, a file mounted over another.
///
/// Isolation: on the event loop.
final class SlowLook: Sendable {
  /// As rare as it can be while a person still waits for it.
  static let interval = Duration.seconds(30)

  private let loop: EventLoop
  private let look: @Sendable () -> Void

  /// Calls `look` every 30 s for as long as this value lives.
  init(on loop: EventLoop, _ look: @escaping @Sendable () -> Void) {
    self.loop = loop
    self.look = look
    awaitNext()
  }

  private func awaitNext() {
    loop.schedule(at: loop.now().advanced(by: Self.interval)) { [weak self] in
      guard let self else { return }
      self.look()
      self.awaitNext()
    }
  }
}
