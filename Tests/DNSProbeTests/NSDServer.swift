import Glibc
import ReachCore
import ReachIO

@testable import DNSProbe

/// NSD, an authoritative name server of Debian's (nsd(8)), on loopback for as long as this value lives.
final class NSDServer: Sendable {
  let endpoint: Nameserver
  private let process: pid_t
  private let directory: TemporaryDirectory

  /// Whether NSD is installed here.
  static let isInstalled = unsafe access("/usr/sbin/nsd", X_OK) == 0

  /// Starts NSD with the zone `zone` on a free port, and waits until it answers.
  init(zone: String, _ text: String, loop: EventLoop) async throws {
    let directory = try TemporaryDirectory()
    try directory.write("zone", text)
    for _ in 0..<5 {
      let port = try Self.freePort()
      try directory.write("nsd.conf", Self.configuration(zone: zone, directory: directory.path, port: port))
      let process = try Self.spawn(["/usr/sbin/nsd", "-d", "-c", directory.path + "/nsd.conf"])
      let endpoint = Nameserver(address: IPAddress(ipv4: 0x7f00_0001), port: port)
      if await Self.answers(endpoint, zone: zone, process: process, loop: loop) {
        self.endpoint = endpoint
        self.process = process
        self.directory = directory
        return
      }
      Self.end(process)
    }
    throw NSDFailure(description: "nsd does not come up; see nsd.log in its directory")
  }

  deinit { Self.end(process) }

  private static func configuration(zone: String, directory: String, port: UInt16) -> String {
    """
    server:
      server-count: 1
      ip-address: 127.0.0.1@\(port)
      username: ""
      chroot: ""
      zonesdir: "\(directory)"
      pidfile: ""
      logfile: "\(directory)/nsd.log"
      xfrdfile: "\(directory)/xfrd"
      zonelistfile: "\(directory)/zonelist"
      database: ""
      rrl-ratelimit: 0
    remote-control:
      control-enable: no
    zone:
      name: \(zone)
      zonefile: zone

    """
  }

  /// A port that was free a moment ago; who takes it in between makes the start fail, and another is tried.
  private static func freePort() throws(SystemError) -> UInt16 {
    let descriptor = Descriptor(owning: socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0))
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let size = length
    let number = descriptor.number
    let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
        unsafe bind(number, pointer, size) == 0 ? unsafe getsockname(number, pointer, &length) : -1
      }
    }
    if result != 0 { throw .current("bind") }
    return UInt16(bigEndian: address.sin_port)
  }

  private static func spawn(_ arguments: [String]) throws -> pid_t {
    var copies: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
    defer { unsafe copies.forEach { unsafe free($0) } }
    // The thread's own mask of blocked signals would be inherited, and SIGTERM be blocked for good.
    var attributes = posix_spawnattr_t()
    var none = sigset_t()
    unsafe sigemptyset(&none)
    unsafe posix_spawnattr_init(&attributes)
    defer { unsafe posix_spawnattr_destroy(&attributes) }
    unsafe posix_spawnattr_setsigmask(&attributes, &none)
    unsafe posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
    var process = pid_t()
    let code = unsafe posix_spawn(&process, arguments[0], nil, &attributes, &copies, environ)
    guard code == 0 else { throw NSDFailure(description: "posix_spawn: \(FaultCode(errno: code).name)") }
    return process
  }

  private static func end(_ process: pid_t) {
    kill(process, SIGTERM)
    var status: Int32 = 0
    _ = unsafe waitpid(process, &status, 0)
  }

  /// Asks until there is an answer, which is the event that is waited for; a process that has ended gives none.
  private static func answers(_ endpoint: Nameserver, zone: String, process: pid_t, loop: EventLoop) async -> Bool {
    let resolver = Resolver(options: options(endpoint, families: [.ipv4]), loop: loop)
    for _ in 0..<1000 {
      let finding = await resolver.resolve(zone, within: .milliseconds(50), on: loop)
      if finding.result == .failed(.dnsNoData) { return true }
      var status: Int32 = 0
      if unsafe waitpid(process, &status, WNOHANG) == process { return false }
      if finding.result == .failed(.dnsUnreachable) {
        await loop.sleep(until: loop.now().advanced(by: .milliseconds(20)))
      }
    }
    return false
  }
}

struct NSDFailure: Error, CustomStringConvertible {
  let description: String
}
