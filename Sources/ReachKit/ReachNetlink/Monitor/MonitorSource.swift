internal import ReachIO

/// Where a monitor has its messages from: the kernel, or in tests a script.
///
/// Isolation: on the event loop.
protocol MonitorSource: Sendable {
  /// Takes the next datagram that the kernel sent by itself, if one waits.
  func receive(into buffer: inout [UInt8]) -> NetlinkSocket.Received
  /// Reads all interfaces. Throws what the kernel refused.
  func readLinks() throws(SystemError) -> LinkDump
}

/// A kernel that may not be asked.
struct RefusedSource: MonitorSource {
  func receive(into buffer: inout [UInt8]) -> NetlinkSocket.Received { .nothing }
  func readLinks() -> LinkDump { LinkDump(links: []) }
}

/// The kernel: one socket that it sends events to, another that is asked.
struct KernelSource: MonitorSource {
  let events: NetlinkSocket
  let session: NetlinkSession

  func receive(into buffer: inout [UInt8]) -> NetlinkSocket.Received { events.receive(into: &buffer) }
  func readLinks() throws(SystemError) -> LinkDump { try session.linkDump() }
}
