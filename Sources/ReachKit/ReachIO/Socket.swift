internal import CReachLinux
internal import Glibc
public import ReachCore

/// A handle on an open nonblocking socket: a number, not its owner, so that many can lie in one array.
///
/// Whoever opened it closes it, once; using it afterwards would reach another part's descriptor. Every method is one
/// system call, never blocks, and may be called from any thread, one at a time.
public struct Socket: Hashable, Sendable {
  /// The descriptor's number.
  public let number: Int32

  /// The handle of an open socket.
  public init(number: Int32) { self.number = number }

  /// A new TCP socket, nonblocking and close-on-exec. Throws what socket(2) failed with: `EMFILE`, `ENFILE`,
  /// `ENOBUFS`, `ENOMEM`, or `EAFNOSUPPORT` where the kernel has no IPv6.
  public static func openTCP(_ family: IPAddress.Family) throws(SystemError) -> Socket {
    try open(family, Int32(SOCK_STREAM.rawValue), Int32(IPPROTO_TCP))
  }

  /// A new UDP socket, as `openTCP` makes one. Connected, it receives from that peer alone (udp(7)).
  public static func openUDP(_ family: IPAddress.Family) throws(SystemError) -> Socket {
    try open(family, Int32(SOCK_DGRAM.rawValue), Int32(IPPROTO_UDP))
  }

  private static func open(
    _ family: IPAddress.Family, _ type: Int32, _ kind: Int32
  ) throws(SystemError) -> Socket {
    let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let number = socket(family == .ipv4 ? AF_INET : AF_INET6, type | flags, kind)
    if number < 0 { throw SystemError.current("socket") }
    return Socket(number: number)
  }

  /// Begins to connect (connect(2)). Returns true when that has succeeded at once, false when its end is to be waited
  /// for: the socket then becomes writable. Throws any other errno.
  public func connect(to peer: SocketAddress) throws(SystemError) -> Bool {
    let code = unsafe peer.withUnsafeAddress { unsafe Glibc.connect(number, $0, $1) }
    if code == 0 { return true }
    // An interrupted connect(2) goes on by itself.
    if errno == EINPROGRESS || errno == EINTR { return false }
    throw SystemError.current("connect")
  }

  /// Binds to an address of this host (bind(2)); port 0 lets the kernel choose.
  public func bind(to address: SocketAddress) throws(SystemError) {
    if unsafe address.withUnsafeAddress({ unsafe Glibc.bind(number, $0, $1) }) != 0 {
      throw SystemError.current("bind")
    }
  }

  /// The address that the socket has on this host (getsockname(2)); nil when the kernel does not say.
  public var localAddress: SocketAddress? {
    var storage = sockaddr_storage()
    var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
    let code = unsafe withUnsafeMutablePointer(to: &storage) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(number, $0, &length) }
    }
    guard code == 0 else { return nil }
    return unsafe withUnsafeBytes(of: &storage) { unsafe SocketAddress($0) }
  }

  /// Takes the error that waits in the socket (SO_ERROR in socket(7)), or nil when none does. In TCP that is also one
  /// the kernel has noted without giving up yet.
  public func takeError() -> FaultCode? {
    var code: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    if unsafe getsockopt(number, SOL_SOCKET, SO_ERROR, &code, &length) != 0 { return FaultCode(errno: errno) }
    return code == 0 ? nil : FaultCode(errno: code)
  }

  /// Closes the socket (close(2)). Whatever the kernel says, it is gone.
  public func close() { _ = Glibc.close(number) }

  func setOption(_ level: Int32, _ name: Int32, to value: Int32, call: StaticName) throws(SystemError) {
    var value = value
    if unsafe setsockopt(number, level, name, &value, socklen_t(MemoryLayout<Int32>.size)) != 0 {
      throw SystemError.current(call)
    }
  }
}
