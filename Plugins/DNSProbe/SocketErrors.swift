internal import Glibc
internal import ReachCore
internal import ReachIO

/// What a failed system call on a name server's socket means: nobody there, or this host's own trouble.
enum SocketErrors {
  /// The reply that stands for the failure.
  static func reply(_ error: SystemError, server: Nameserver) -> DNSReply {
    let number = error.code.errno ?? EIO
    let isUnreachable: Bool
    switch error.call {
    case "socket": isUnreachable = number == EAFNOSUPPORT
    // The device a target is bound to does not exist: the route probe says so better.
    case "setsockopt(SO_BINDTODEVICE)": isUnreachable = number == ENODEV
    case "setsockopt(SO_MARK)", "bind": isUnreachable = false
    default: isUnreachable = isAboutThePath(number)
    }
    if isUnreachable { return .unreachable(error.code) }
    if error.call == "recv" || error.call == "send" {
      if number == ECONNRESET || number == EPIPE { return .closed }
      if number == ETIMEDOUT { return .timedOut }
    }
    if let fault = error.permissionFault(for: "the name server \(server)") { return .fault(fault) }
    return .fault(LocalFault(errno: number, detail: "\(error.call.text) for the name server \(server)"))
  }

  /// Errors that a route, a router or the server's host answers with. EINVAL is a blackhole route's, EACCES a
  /// prohibiting one's; EPERM is a firewall of this host itself and not among them.
  private static func isAboutThePath(_ number: Int32) -> Bool {
    switch number {
    case ECONNREFUSED, ENETUNREACH, EHOSTUNREACH, EHOSTDOWN, ENETDOWN, EACCES, EINVAL, EPROTO, ENOPROTOOPT, ENONET:
      true
    default: false
    }
  }
}
