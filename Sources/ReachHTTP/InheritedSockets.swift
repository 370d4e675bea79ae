internal import Glibc
internal import ReachIO

/// The sockets that a service manager opened for this process before it started (sd_listen_fds(3)): systemd's socket
/// activation, by which a port below 1024 or a socket file in a protected folder is had without any right to it.
public struct InheritedSockets: Hashable, Sendable {
  /// One of them.
  public struct Member: Hashable, Sendable {
    /// The descriptor.
    public let number: Int32
    /// The name that the service manager gave it, or nothing.
    public let name: String
    /// Whether it listens, on TCP or on a Unix stream socket, and can be served.
    public let isListening: Bool
  }

  /// All of them, in the order of their descriptors.
  public let members: [Member]

  /// Those that can be served, to be given to `HTTPServer.listen(on:)`, whose they become.
  public var addresses: [ListenAddress] { members.filter(\.isListening).map { .descriptor($0.number) } }

  /// Takes over those that the environment tells of. The variables are then removed, so that no child is misled, and the
  /// descriptors are closed on exec.
  ///
  /// Call it once, before there is a second thread: the environment is changed.
  public static func take() -> InheritedSockets {
    let names = ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"]
    let values = names.map { name in unsafe getenv(name).map { unsafe String(cString: $0) } }
    for name in names { unsafe unsetenv(name) }
    let numbered = numbered(process: values[0], count: values[1], names: values[2], ownProcess: getpid())
    for member in numbered { _ = fcntl(member.number, F_SETFD, FD_CLOEXEC) }
    return InheritedSockets(
      members: numbered.map { Member(number: $0.number, name: $0.name, isListening: isListening($0.number)) })
  }

  /// Closes all of them, when others are to be served.
  public func close() {
    for member in members { _ = Glibc.close(member.number) }
  }

  /// Closes those that cannot be served.
  public func closeForeign() {
    for member in members where !member.isListening { _ = Glibc.close(member.number) }
  }

  /// The descriptors that the variables' values name: from 3 on, for this process and no other.
  static func numbered(
    process: String?, count: String?, names: String?, ownProcess: Int32
  ) -> [(number: Int32, name: String)] {
    guard let process = process.flatMap({ Int32($0) }), process == ownProcess else { return [] }
    guard let count = count.flatMap({ Int32($0) }), count > 0 else { return [] }
    let names = names?.split(separator: ":", omittingEmptySubsequences: false) ?? []
    // What is above the limit of descriptors cannot have been handed over.
    return (0..<min(count, highestCount)).map { index in
      (firstNumber + index, Int(index) < names.count ? String(names[Int(index)]) : "")
    }
  }

  private static let firstNumber: Int32 = 3
  private static let highestCount: Int32 = 1024

  private static func isListening(_ number: Int32) -> Bool {
    func option(_ name: Int32) -> Int32? {
      var value: Int32 = 0
      var length = socklen_t(MemoryLayout<Int32>.size)
      return unsafe getsockopt(number, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
    guard option(SO_ACCEPTCONN) == 1, option(SO_TYPE) == Int32(SOCK_STREAM.rawValue) else { return false }
    guard let domain = option(SO_DOMAIN) else { return false }
    return [AF_INET, AF_INET6, AF_UNIX].contains(domain)
  }
}
