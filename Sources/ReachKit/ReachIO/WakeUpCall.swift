internal import CReachLinux
internal import Glibc
internal import ReachCore

/// What one thread that is no event loop waits for, and any other may give (eventfd(2)).
public final class WakeUpCall: Sendable {
  private let descriptor: Descriptor

  /// A call that has not been made. Throws what eventfd(2) failed with, `EMFILE` mostly.
  public init() throws(SystemError) {
    descriptor = Descriptor(
      owning: try retryingInterrupts("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
  }

  /// Makes the call. From any thread; does not block. Several before it is heard are one.
  public func make() {
    var one: UInt64 = 1
    _ = unsafe write(descriptor.number, &one, 8)
  }

  /// Blocks the calling thread until the call has been made, for `limit` at most, to the millisecond above. Returns
  /// whether it was made. May return early with false.
  @discardableResult
  public func wait(for limit: Duration) -> Bool {
    var poll = pollfd(fd: descriptor.number, events: Int16(POLLIN), revents: 0)
    _ = unsafe Glibc.poll(&poll, 1, Int32(clamping: (max(0, limit.nanoseconds) / 1_000_000) &+ 1))
    var count: UInt64 = 0
    return unsafe read(descriptor.number, &count, 8) == 8
  }
}
