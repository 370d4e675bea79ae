internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe

extension ProbeHost {
  /// The loop with the kernel's tables beside it, as a configuration wants them seen.
  static func open(
    _ configuration: Configuration, within budget: DescriptorBudget, on loop: EventLoop
  ) throws(AgentError) -> ProbeHost {
    do throws(SystemError) {
      let netlink = try NetlinkSession(loop: loop)
      let links = try LinkMonitor(loop: loop, session: netlink, wwanInterfaces: configuration.wwanInterfaces)
      return ProbeHost(
        loop: loop, links: links, netlink: netlink, defaultPath: configuration.defaultPath,
        connections: SocketAllowance(budget.connections, on: loop),
        keptSockets: SocketAllowance(budget.keptSockets, on: loop))
    } catch {
      throw AgentError("the kernel's routing tables cannot be read (\(error)): allow AF_NETLINK sockets")
    }
  }
}
