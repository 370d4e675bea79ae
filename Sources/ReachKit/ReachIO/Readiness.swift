internal import CReachLinux

/// What a descriptor is ready for, and what to wait for: the event bits of epoll_ctl(2).
public struct Readiness: OptionSet, Hashable, Sendable {
  /// The bits as epoll carries them.
  public let rawValue: UInt32
  /// A set of epoll's bits.
  public init(rawValue: UInt32) { self.rawValue = rawValue }

  /// EPOLLIN: there is something to read, or the end.
  public static let readable = Readiness(rawValue: 0x001)
  /// EPOLLOUT: writing will not block; a connect(2) has come to its end.
  public static let writable = Readiness(rawValue: 0x004)
  /// EPOLLERR: an error waits in SO_ERROR or the error queue. Always reported, never asked for.
  public static let error = Readiness(rawValue: 0x008)
  /// EPOLLHUP: both directions are shut. Always reported, never asked for.
  public static let hangUp = Readiness(rawValue: 0x010)
  /// EPOLLRDHUP: the peer will send no more.
  public static let peerClosed = Readiness(rawValue: 0x2000)
  /// EPOLLET: report changes of readiness rather than readiness.
  public static let edgeTriggered = Readiness(rawValue: 1 << 31)
}
