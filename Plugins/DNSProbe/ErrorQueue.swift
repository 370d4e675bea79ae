internal import CCares
internal import Glibc
internal import ReachCore

/// The error queue of a UDP socket (ip(7), IP_RECVERR). With it the kernel reports every ICMP error, such as a router's
/// "no route" or "prohibited"; without it only "port unreachable".
enum ErrorQueue {
  /// Asks for all errors. Where that fails the socket serves all the same, with fewer of them.
  static func enable(_ descriptor: Int32, family: IPAddress.Family) {
    var on: Int32 = 1
    let (level, option) =
      family == .ipv4 ? (CInt(IPPROTO_IP), CCares_ip_recverr()) : (CInt(IPPROTO_IPV6), CCares_ipv6_recverr())
    _ = unsafe setsockopt(descriptor, level, option, &on, socklen_t(MemoryLayout<Int32>.size))
  }

  /// Empties the queue: what is in it has been told as the socket's error.
  static func drain(_ descriptor: Int32) {
    var byte: UInt8 = 0
    for _ in 0..<64 {
      guard unsafe recv(descriptor, &byte, 1, CCares_msg_errqueue()) >= 0 else { return }
    }
  }
}
