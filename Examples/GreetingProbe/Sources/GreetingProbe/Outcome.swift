internal import Glibc
internal import ReachCore

/// What an errno says of the target. Only what the network answered is a failure of the target.
enum Outcome {
  /// For an errno that connect(2), or a call before it, returned at once: nothing has left this host yet.
  static func immediate(_ code: FaultCode) -> TCPFinding.Result {
    switch code.errno {
    case ECONNREFUSED: .failed(.tcpRefused)
    // The route probe knows better what these mean.
    case ENETUNREACH, EHOSTUNREACH, EACCES, EINVAL, ENETDOWN, ENODEV, EADDRNOTAVAIL: .refusedLocally(code)
    default: .fault(code)
    }
  }

  /// For an errno that came later: the network's answer.
  static func later(_ code: FaultCode) -> TCPFinding.Result {
    switch code.errno {
    case ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, ENOPROTOOPT, EPROTO: .failed(.tcpRefused)
    case ETIMEDOUT: .failed(.tcpTimeout)
    case EHOSTUNREACH, EHOSTDOWN: .failed(.tcpHostUnreachable)
    case ENETUNREACH: .failed(.tcpNetUnreachable)
    case EACCES, EPERM: .failed(.tcpAdminProhibited)
    default: .fault(code)
    }
  }
}
