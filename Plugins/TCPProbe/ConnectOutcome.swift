internal import Glibc
internal import ReachCore
internal import ReachIO

/// What an errno of connect(2) says, by when it came: this table is all the probe's judgement of failures.
enum ConnectOutcome {
  /// For an errno that connect(2), or a call before it, returned at once: nothing has left this host, so it is this
  /// host's decision or its fault.
  ///
  /// `isRouteFine` says that the route probe has found a way; EADDRNOTAVAIL then means that no local port is left,
  /// while otherwise IPv6 may be switched off.
  static func immediate(_ code: FaultCode, isRouteFine: Bool) -> TCPFinding.Result {
    switch code.errno {
    case ECONNREFUSED: .failed(.tcpRefused)
    case ETIMEDOUT: .failed(.tcpTimeout)
    case ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, ENETDOWN, ENODEV: .refusedLocally(code)
    case EADDRNOTAVAIL: isRouteFine ? .fault(code) : .refusedLocally(code)
    default: .fault(code)
    }
  }

  /// For an errno that the socket held later: the network's answer, as the kernel translates RST and ICMP
  /// (icmp(7); `icmp_err_convert` and `tab_unreach` in the kernel's source).
  static func later(_ code: FaultCode, icmp: QueuedError.ICMP?) -> TCPFinding.Result {
    switch code.errno {
    // A reset after the handshake, and "protocol unreachable" in both families, leave nobody to talk to either.
    case ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ENOPROTOOPT, EPROTO: .failed(.tcpRefused)
    case ETIMEDOUT: .failed(.tcpTimeout)
    case EACCES, EPERM: .failed(.tcpAdminProhibited)
    case ENETUNREACH: .failed(isProhibition(icmp) ? .tcpAdminProhibited : .tcpNetUnreachable)
    // ENONET is "source host isolated", EOPNOTSUPP "source route failed".
    case EHOSTUNREACH, EHOSTDOWN, ENONET, EOPNOTSUPP:
      .failed(isProhibition(icmp) ? .tcpAdminProhibited : .tcpHostUnreachable)
    default: .fault(code)
    }
  }

  /// Whether an ICMPv4 destination-unreachable message says "administratively prohibited": network (9), host (10) or
  /// communication (13), RFC 1812 section 5.2.7.1. Its errno alone is the one for an unreachable network or host. The
  /// ICMPv6 messages of that meaning have an errno of their own, EACCES.
  private static func isProhibition(_ icmp: QueuedError.ICMP?) -> Bool {
    guard let icmp, icmp.type == 3 else { return false }
    return [9, 10, 13].contains(icmp.code)
  }
}
