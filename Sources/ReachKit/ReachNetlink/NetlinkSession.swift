internal import ReachCore
public import ReachIO

/// Requests to rtnetlink(7) and their answers. Runs on the event loop.
public final class NetlinkSession: Sendable {
  /// Opens the socket. Throws what socket(2) or bind(2) failed with.
  public init(loop: EventLoop) throws(SystemError) {}

  /// Asks what the kernel would do with a packet (RTM_GETROUTE). The kernel answers within the call.
  public func lookup(_ query: RouteQuery) -> RouteAnswer { .refused(FaultCode(errno: 101)) }
}
