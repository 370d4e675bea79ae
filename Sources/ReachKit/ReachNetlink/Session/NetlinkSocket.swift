internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachIO

/// One socket of NETLINK_ROUTE (netlink(7)), bound to a port the kernel chooses. Non-blocking, closed on exec.
final class NetlinkSocket: Sendable {
  /// What one recvfrom(2) brought.
  enum Received: Hashable, Sendable {
    /// A datagram from the kernel of that many octets.
    case datagram(Int)
    /// A datagram that does not fit; it has this many octets, and is lost.
    case truncated(Int)
    /// A datagram that another process sent; to be ignored.
    case stray
    /// Nothing waits.
    case nothing
    /// The call failed; ENOBUFS says that messages were lost (netlink(7)).
    case failed(FaultCode)
  }

  let descriptor: Descriptor
  /// The port: nl_pid of the socket's own address, which answers carry.
  let port: UInt32
  /// Why there is no socket; nil where there is one.
  let refusal: SystemError?

  /// Stands for a socket that cannot be had: whatever it is to send fails with that error.
  init(refusedBy error: SystemError) {
    descriptor = Descriptor(owning: -1)
    port = 0
    refusal = error
  }

  init() throws(SystemError) {
    refusal = nil
    let type = Int32(SOCK_RAW.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    descriptor = Descriptor(
      owning: try retryingInterrupts("socket") { socket(AF_NETLINK, type, Int32(NETLINK_ROUTE)) })
    port = try Self.bind(descriptor.number)
  }

  private static func bind(_ number: Int32) throws(SystemError) -> UInt32 {
    var address = sockaddr_nl()
    address.nl_family = sa_family_t(AF_NETLINK)
    var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
    let bound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe Glibc.bind(number, generic, length) == 0 ? getsockname(number, generic, &length) : -1
      }
    }
    if bound != 0 { throw SystemError.current("bind") }
    return address.nl_pid
  }

  /// Sets an option of 32 bits. Throws what setsockopt(2) failed with.
  func set(_ option: Int32, _ value: Int32, level: Int32 = SOL_NETLINK) throws(SystemError) {
    var value = value
    let result = unsafe setsockopt(descriptor.number, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
    if result != 0 { throw SystemError.current("setsockopt") }
  }

  /// Sets how much may wait to be read, beyond the system's limit where this process is allowed to (socket(7)).
  func setReceiveBuffer(_ octets: Int32) throws(SystemError) {
    do {
      try set(SO_RCVBUFFORCE, octets, level: SOL_SOCKET)
    } catch {
      try set(SO_RCVBUF, octets, level: SOL_SOCKET)
    }
  }

  /// Sends a request to the kernel. Returns nil, or why it did not go.
  func send(_ request: [UInt8]) -> FaultCode? {
    if let refusal { return refusal.code }
    var kernel = sockaddr_nl()
    kernel.nl_family = sa_family_t(AF_NETLINK)
    while true {
      let sent = unsafe withUnsafePointer(to: &kernel) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          unsafe request.withUnsafeBytes { bytes in
            unsafe sendto(
              descriptor.number, bytes.baseAddress, bytes.count, 0, generic,
              socklen_t(MemoryLayout<sockaddr_nl>.size))
          }
        }
      }
      if sent == request.count { return nil }
      let code = FaultCode(errno: sent < 0 ? errno : EIO)
      if code != .interrupted { return code }
    }
  }

  /// Takes the next datagram, if one waits.
  func receive(into buffer: inout [UInt8]) -> Received {
    var sender = sockaddr_nl()
    while true {
      var length = socklen_t(MemoryLayout<sockaddr_nl>.size)
      // MSG_TRUNC: the datagram's own length is returned, though it does not fit.
      let count = unsafe withUnsafeMutablePointer(to: &sender) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
          unsafe buffer.withUnsafeMutableBytes { bytes in
            unsafe recvfrom(
              descriptor.number, bytes.baseAddress, bytes.count, Int32(MSG_TRUNC), generic, &length)
          }
        }
      }
      if count >= 0 {
        guard sender.nl_pid == 0 else { return .stray }
        return count <= buffer.count ? .datagram(count) : .truncated(count)
      }
      switch errno {
      case EINTR: continue
      case EAGAIN: return .nothing
      default: return .failed(FaultCode(errno: errno))
      }
    }
  }
}
