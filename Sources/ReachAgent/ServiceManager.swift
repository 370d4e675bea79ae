internal import Glibc
internal import ReachCore
internal import ReachIO

/// Tells the service manager how the agent does, in the protocol of sd_notify(3), and that it is alive.
///
/// Without `NOTIFY_SOCKET` in the environment it says nothing. Nothing it does can fail for the agent.
///
/// Isolation: on the event loop, or before it runs.
final class ServiceManager: Sendable {
  private let loop: EventLoop
  private let path: String?
  private let watchdog: Duration?

  /// The service manager that the environment names. It is taken out of the environment, which no child is to inherit.
  init(on loop: EventLoop) {
    self.loop = loop
    path = Self.variable("NOTIFY_SOCKET").flatMap { $0.hasPrefix("/") || $0.hasPrefix("@") ? $0 : nil }
    let isMeant = Self.variable("WATCHDOG_PID").map { Int32($0) == getpid() } ?? true
    let limit = Self.variable("WATCHDOG_USEC").flatMap { Int64($0) }.flatMap { $0 > 0 && isMeant ? $0 : nil }
    watchdog = limit.map { .microseconds($0 / 2) }
    for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID"] { unsafe unsetenv(name) }
  }

  /// The agent serves, and says so regularly from now on where the service manager wants that. Returns why that cannot be
  /// told, if there is somebody to tell it.
  func ready() -> SystemError? {
    let failure = send("READY=1")
    beat()
    return failure
  }

  /// The configuration is being read again; `ready` or `reloaded` follows.
  func reloading() { send("RELOADING=1\nMONOTONIC_USEC=\(SystemClock().now().nanoseconds / 1_000)") }

  /// The configuration has been read again, or was refused.
  func reloaded() { send("READY=1") }

  /// The agent stops.
  func stopping() { send("STOPPING=1") }

  private func beat() {
    guard path != nil, let watchdog else { return }
    send("WATCHDOG=1")
    loop.schedule(at: loop.now().advanced(by: watchdog)) { [weak self] in self?.beat() }
  }

  @discardableResult
  private func send(_ text: String) -> SystemError? {
    guard let path else { return nil }
    let number = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
    guard number >= 0 else { return .current("socket") }
    defer { close(number) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // A path that begins with @ is an abstract one (unix(7)), which begins with a zero octet.
    var name = Array(path.utf8)
    if name.first == UInt8(ascii: "@") { name[0] = 0 }
    let room = MemoryLayout.size(ofValue: address.sun_path)
    guard name.count < room else { return SystemError("sendto", FaultCode(errno: ENAMETOOLONG)) }
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: name) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + name.count + (name.first == 0 ? 0 : 1))
    let bytes = Array(text.utf8)
    let sent = unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
        unsafe bytes.withUnsafeBytes { buffer in
          unsafe sendto(
            number, buffer.baseAddress, buffer.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), generic, length)
        }
      }
    }
    return sent < 0 ? .current("sendto") : nil
  }

  private static func variable(_ name: String) -> String? {
    guard let value = unsafe getenv(name) else { return nil }
    return unsafe String(validatingCString: value)
  }
}
