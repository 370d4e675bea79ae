internal import Glibc
public import ReachCore

extension SystemError {
  /// The fault of a socket that this process may not have as a target asks for it: which setting, and what to do. Nil
  /// for an error that is not one of permission.
  ///
  /// `what` says whom the socket was for; it may be empty.
  public func permissionFault(for what: String = "") -> LocalFault? {
    permissionFault(for: what, in: .current) { Capabilities.ofThisProcess().contains($0) }
  }

  /// The same as surroundings would have it; `has` tells whether a capability is there.
  func permissionFault(
    for what: String, in surroundings: Surroundings, _ has: (String) -> Bool
  ) -> LocalFault? {
    guard code.errno == EPERM else { return nil }
    let place = what.isEmpty ? "" : " for \(what)"
    func fault(_ detail: String, _ need: Need) -> LocalFault {
      LocalFault(.probeError(code), detail: detail, remedy: surroundings.remedy(for: need))
    }
    switch call {
    case "setsockopt(SO_MARK)":
      // Since Linux 5.17 either of the two is enough, and this is the lesser one.
      return fault(
        "source.mark cannot be set\(place) (\(self)): it needs CAP_NET_RAW, or before Linux 5.17 CAP_NET_ADMIN",
        .capability("CAP_NET_RAW", isVoid: has("CAP_NET_RAW") || has("CAP_NET_ADMIN")))
    case "setsockopt(SO_BINDTODEVICE)":
      return fault(
        "source.interface cannot be set\(place) (\(self)): it needs CAP_NET_RAW here",
        .capability("CAP_NET_RAW", isVoid: has("CAP_NET_RAW")))
    case "connect", "send":
      return fault(
        "a firewall or security policy of this host (nftables, a cgroup's BPF program, seccomp, an LSM) forbids"
          + " reachd to send\(place) (\(self))", .sending)
    default: return nil
    }
  }
}
