internal import Glibc
public import ReachCore

extension SystemError {
  /// The fault of a socket that this process may not have as a target asks for it: which setting, and what to do. Nil
  /// for an error that is not one of permission.
  ///
  /// `what` says whom the socket was for; it may be empty.
  public func permissionFault(for what: String = "") -> LocalFault? {
    guard code.errno == EPERM else { return nil }
    let place = what.isEmpty ? "" : " for \(what)"
    switch call {
    case "setsockopt(SO_MARK)":
      return LocalFault(
        .probeError(code), detail: "source.mark cannot be set\(place) (\(self)): it needs CAP_NET_ADMIN",
        remedy: "give reachd the capability: AmbientCapabilities=CAP_NET_ADMIN in its systemd unit")
    case "setsockopt(SO_BINDTODEVICE)":
      return LocalFault(
        .probeError(code), detail: "source.interface cannot be set\(place) (\(self)): it needs CAP_NET_RAW here",
        remedy: "give reachd the capability: AmbientCapabilities=CAP_NET_RAW in its systemd unit")
    case "connect", "send":
      return LocalFault(
        .probeError(code),
        detail: "a firewall or security policy of this host (nftables, a cgroup's BPF program, seccomp, an LSM) forbids"
          + " reachd to send\(place) (\(self))",
        remedy: "allow reachd to connect to its targets")
    default: return nil
    }
  }
}
