internal import Glibc
internal import ReachCore

extension Socket {
  /// A new Unix stream socket (unix(7)), nonblocking and close-on-exec. Throws what socket(2) failed with.
  public static func openUnix() throws(SystemError) -> Socket {
    let flags = Int32(SOCK_NONBLOCK.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
    let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | flags, 0)
    if number < 0 { throw SystemError.current("socket") }
    return Socket(number: number)
  }

  /// Connects to the socket at that path. Returns false when whoever listens there has no room for one more client just
  /// now: nothing tells when it has. Throws any other errno, `ENAMETOOLONG` for a path that no socket can have.
  public func connect(toUnix path: String) throws(SystemError) -> Bool {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let name = Array(path.utf8)
    guard name.count < MemoryLayout.size(ofValue: address.sun_path) else {
      throw SystemError("connect", FaultCode(errno: ENAMETOOLONG))
    }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let code = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe Glibc.connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    if code == 0 { return true }
    if errno == EAGAIN { return false }
    throw SystemError.current("connect")
  }
}
