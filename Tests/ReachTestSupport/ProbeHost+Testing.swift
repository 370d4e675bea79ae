public import ReachCore
public import ReachIO
internal import ReachNetlink
public import ReachProbe

extension ProbeHost {
  /// What the agent would give its probes on this loop, in the network namespace of the loop's thread: call it on the
  /// loop, once the interfaces are staged or before. Throws what the kernel refused.
  public static func onThisLoop(
    _ loop: EventLoop, wwanInterfaces: [String] = [], defaultPath: [IPAddress] = ["9.9.9.9", "203.0.113.1"],
    connections: SocketAllowance? = nil, keptSockets: SocketAllowance? = nil
  ) throws -> ProbeHost {
    let session = try NetlinkSession(loop: loop)
    return ProbeHost(
      loop: loop, links: try LinkMonitor(loop: loop, session: session, wwanInterfaces: wwanInterfaces),
      netlink: session, defaultPath: defaultPath, connections: connections, keptSockets: keptSockets)
  }

  /// A context for one observation that ends `timeout` from now.
  public func context(
    _ candidates: [Candidate], within timeout: Duration = .seconds(5), dns: DNSFinding? = nil
  ) -> ProbeContext {
    ProbeContext(
      host: self, deadline: loop.now().advanced(by: timeout), candidates: candidates, dns: dns)
  }
}
