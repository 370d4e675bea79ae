internal import Glibc
internal import ReachCore
internal import ReachIO

/// A listening socket, made ready for the HTTP library.
struct ListenSocket: ~Copyable {
  let descriptor: Descriptor
  /// The address it is bound to, with the port the kernel chose.
  let bound: ListenAddress
  /// The device and inode of a Unix socket's file, so that only our own is removed.
  let file: SocketFile?

  private init(_ descriptor: consuming Descriptor, bound: ListenAddress, file: SocketFile? = nil) {
    self.descriptor = descriptor
    self.bound = bound
    self.file = file
  }

  /// A socket that listens already, at that address.
  init(sharing descriptor: consuming Descriptor, bound: ListenAddress) {
    self.init(descriptor, bound: bound)
  }

  /// Gives the socket up to the library.
  consuming func release() -> Int32 { descriptor.release() }

  /// Opens, binds and listens. Throws what the kernel refused.
  static func open(_ address: ListenAddress) throws(SystemError) -> ListenSocket {
    switch address {
    case .address(let ip, let port): try open(ip, port: port)
    case .anyAddress(let port): try openAny(port: port)
    case .unix(let path): try openUnix(path)
    case .descriptor(let number): try adopt(number)
    }
  }

  private static func open(_ ip: IPAddress, port: UInt16) throws(SystemError) -> ListenSocket {
    let descriptor = try openTCP(ip, port: port, isDual: false)
    let bound = ListenAddress.address(ip, port: boundPort(descriptor) ?? port)
    return ListenSocket(descriptor, bound: bound)
  }

  /// Both families by one socket; IPv4 alone on a host without IPv6.
  private static func openAny(port: UInt16) throws(SystemError) -> ListenSocket {
    let descriptor: Descriptor
    do {
      descriptor = try openTCP(IPAddress(ipv6High: 0, low: 0), port: port, isDual: true)
    } catch  where error.code.errno == EAFNOSUPPORT || error.code.errno == EADDRNOTAVAIL {
      descriptor = try openTCP(IPAddress(ipv4: 0), port: port, isDual: false)
    }
    let bound = ListenAddress.anyAddress(port: boundPort(descriptor) ?? port)
    return ListenSocket(descriptor, bound: bound)
  }

  private static func openTCP(_ ip: IPAddress, port: UInt16, isDual: Bool) throws(SystemError) -> Descriptor {
    let descriptor = Descriptor(owning: try Socket.openTCP(ip.family).number)
    try setOption(descriptor, SOL_SOCKET, SO_REUSEADDR, 1)
    if ip.family == .ipv6 { try setOption(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, isDual ? 0 : 1) }
    try Socket(number: descriptor.number).bind(to: SocketAddress(ip, port: port, scope: scope(of: ip)))
    try startListening(descriptor)
    return descriptor
  }

  private static func openUnix(_ path: String) throws(SystemError) -> ListenSocket {
    let descriptor = try makeUnixSocket()
    do {
      try bind(descriptor, toPath: path)
    } catch  where error.code.errno == EADDRINUSE {
      // Whatever else is there is somebody's file: it stays.
      guard isSocket(path) else { throw SystemError("bind", FaultCode(errno: EEXIST)) }
      // A socket that nobody answers at is left from a process that was killed.
      guard try isAbandoned(path) else { throw error }
      _ = unsafe unlink(path)
      try bind(descriptor, toPath: path)
    }
    _ = unsafe chmod(path, 0o660)
    try startListening(descriptor)
    return ListenSocket(descriptor, bound: .unix(path: path), file: SocketFile(path: path))
  }

  private static func adopt(_ number: Int32) throws(SystemError) -> ListenSocket {
    var isListening: Int32 = 0
    var length = socklen_t(MemoryLayout<Int32>.size)
    _ = try retryingInterrupts("getsockopt") {
      unsafe getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length)
    }
    guard isListening != 0 else { throw SystemError("getsockopt", FaultCode(errno: EINVAL)) }
    let flags = fcntl(number, F_GETFL)
    if flags >= 0 { _ = fcntl(number, F_SETFL, flags | O_NONBLOCK) }
    _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    let descriptor = Descriptor(owning: number)
    let bound = boundAddress(number)
    return ListenSocket(descriptor, bound: bound)
  }

  // MARK: System calls

  private static func makeUnixSocket() throws(SystemError) -> Descriptor {
    let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue)
    return Descriptor(owning: try retryingInterrupts("socket") { socket(AF_UNIX, type, 0) })
  }

  private static func setOption(
    _ descriptor: borrowing Descriptor, _ level: Int32, _ name: Int32, _ value: Int32
  ) throws(SystemError) {
    var value = value
    let code = unsafe setsockopt(descriptor.number, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    if code != 0 { throw SystemError.current("setsockopt") }
  }

  private static func startListening(_ descriptor: borrowing Descriptor) throws(SystemError) {
    if listen(descriptor.number, SOMAXCONN) != 0 { throw SystemError.current("listen") }
  }

  private static func scope(of ip: IPAddress) -> UInt32 {
    guard let zone = ip.zone else { return 0 }
    if let index = UInt32(zone) { return index }
    return unsafe if_nametoindex(zone)
  }

  private static func bind(_ descriptor: borrowing Descriptor, toPath path: String) throws(SystemError) {
    let number = descriptor.number
    let code = unsafe withAddress(ofPath: path) { unsafe Glibc.bind(number, $0, $1) }
    if code != 0 { throw SystemError.current("bind") }
  }

  private static func isSocket(_ path: String) -> Bool {
    var status = stat()
    return unsafe lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
  }

  private static func isAbandoned(_ path: String) throws(SystemError) -> Bool {
    let probe = try makeUnixSocket()
    let code = unsafe withAddress(ofPath: path) { unsafe connect(probe.number, $0, $1) }
    return code != 0 && errno == ECONNREFUSED
  }

  /// Calls `body` with the address of a Unix socket; a path that is too long is cut, which the parser has ruled out.
  private static func withAddress(
    ofPath path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8.prefix(107)) }
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }

  /// Where an inherited socket listens, as far as that can be written.
  private static func boundAddress(_ number: Int32) -> ListenAddress {
    if let local = Socket(number: number).localAddress {
      let isAny = local.address.isUnspecified
      return isAny ? .anyAddress(port: local.port) : .address(local.address, port: local.port)
    }
    return boundPath(number).map { .unix(path: $0) } ?? .descriptor(number)
  }

  /// The path of a Unix socket; nil for one without a file.
  private static func boundPath(_ number: Int32) -> String? {
    var address = sockaddr_un()
    var length = socklen_t(MemoryLayout<sockaddr_un>.size)
    let code = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe getsockname(number, $0, &length) }
    }
    guard code == 0, address.sun_family == sa_family_t(AF_UNIX) else { return nil }
    let path = unsafe withUnsafeBytes(of: &address.sun_path) { unsafe Array($0.prefix { $0 != 0 }) }
    return path.isEmpty ? nil : String(decoding: path, as: UTF8.self)
  }

  /// nil for a Unix socket.
  private static func boundPort(_ descriptor: borrowing Descriptor) -> UInt16? {
    Socket(number: descriptor.number).localAddress?.port
  }
}

/// The file of a Unix socket, told from one that has taken its place.
struct SocketFile: Hashable {
  let path: String
  private let device: UInt64
  private let inode: UInt64

  /// The file at that path; nil when there is none.
  init?(path: String) {
    var status = stat()
    guard unsafe lstat(path, &status) == 0 else { return nil }
    self.path = path
    device = UInt64(status.st_dev)
    inode = UInt64(status.st_ino)
  }

  /// Removes the file, if it is still the same.
  func remove() {
    if SocketFile(path: path) == self { _ = unsafe unlink(path) }
  }
}
