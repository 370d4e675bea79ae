public import ReachCore
public import ReachIO

/// The interfaces of this network namespace, kept current by the kernel's own messages. Runs on the event loop.
public final class LinkMonitor: Sendable {
  /// Opens the event socket, joins the groups and reads all interfaces. Throws what the kernel refused.
  public init(loop: EventLoop, session: NetlinkSession, wwanInterfaces: [String] = []) throws(SystemError) {}

  /// The finding for the interface of that index; nil when there is none.
  public func finding(index: Int32) -> LinkFinding? { nil }
  /// The finding for the interface of that name; state `missing` when there is none.
  public func finding(named name: String) -> LinkFinding {
    LinkFinding(interface: name, index: 0, medium: .other, state: .missing)
  }
}
