internal import Glibc
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
      let (netlink, links) = try tables(configuration, on: loop)
      return ProbeHost(
        loop: loop, links: links, netlink: netlink, defaultPath: configuration.defaultPath,
        connections: SocketAllowance(budget.connections, on: loop),
        keptSockets: SocketAllowance(budget.keptSockets, on: loop))
    } catch {
      throw AgentError("the kernel's routing tables cannot be read: \(error)")
    }
  }

  /// The kernel's tables; where this process may not have them, what stands for them. Throws what may pass by itself, such
  /// as a want of memory: a start some time later is of more use then than an agent that never sees anything.
  private static func tables(
    _ configuration: Configuration, on loop: EventLoop
  ) throws(SystemError) -> (NetlinkSession, LinkMonitor) {
    do throws(SystemError) {
      let netlink = try NetlinkSession(loop: loop)
      let links = try LinkMonitor(loop: loop, session: netlink, wwanInterfaces: configuration.wwanInterfaces)
      return (netlink, links)
    } catch {
      guard error.isRefusal else { throw error }
      let netlink = NetlinkSession(loop: loop, refusedBy: error)
      return (netlink, try LinkMonitor(loop: loop, refusing: netlink))
    }
  }
}

extension SystemError {
  /// Whether this process may not do that, today or tomorrow: what a sandbox answers.
  fileprivate var isRefusal: Bool {
    switch code.errno {
    case EAFNOSUPPORT, EPROTONOSUPPORT, EPERM, EACCES, ENOSYS: true
    default: false
    }
  }
}
