import Glibc
import ReachCore
import Testing

@testable import DNSProbe

@Suite struct ResolverConfigurationTests {
  @Test("servers of both families, zones, comments, search list and options are read")
  func whole() {
    let configuration = ResolverConfiguration(
      parsing: """
        # made by hand
        nameserver 192.0.2.53
        nameserver\t2001:db8::53   ; second
        nameserver fe80::1%eth0
        nameserver 192.0.2.53
        nameserver not.an.address
        domain old.test
        search Corp.Example.test. example.test
        options ndots:2 timeout:1 use-vc
        """)
    #expect(configuration.servers.map(\.description) == ["192.0.2.53:53", "[2001:db8::53]:53", "[fe80::1%eth0]:53"])
    #expect(configuration.searchList == ["corp.example.test", "example.test"])
    #expect(configuration.ndots == 2)
    #expect(configuration.usesTCP)
  }

  @Test("nonsense is passed over", arguments: ["", "nameserver", "options ndots:", "\u{0}\u{ff}", "options ndots:999"])
  func nonsense(text: String) {
    let configuration = ResolverConfiguration(parsing: text)
    #expect(configuration.servers.isEmpty)
    #expect(configuration.ndots == 1)
  }

  @Test("names with fewer dots than ndots try the search list first, others last")
  func candidates() {
    var configuration = ResolverConfiguration()
    configuration.searchList = ["x.test", "y.test"]
    #expect(configuration.candidates(for: "db") == ["db.x.test", "db.y.test", "db"])
    #expect(configuration.candidates(for: "db.z") == ["db.z", "db.z.x.test", "db.z.y.test"])
  }
}

@Suite struct HostsFileTests {
  static let text = """
    127.0.0.1\tlocalhost
    192.0.2.1  Web.Example.TEST web # comment other
    2001:db8::1 web
    broken web
    192.0.2.1 web
    192.0.2.9 other.
    """

  @Test("every line that lists the name adds its address, once, whatever the letters' case")
  func lookup() {
    let text = Array(Self.text.utf8)
    #expect(HostsFile.addresses(of: "web", in: text).map(\.description) == ["192.0.2.1", "2001:db8::1"])
    #expect(HostsFile.addresses(of: "web.example.test", in: text).map(\.description) == ["192.0.2.1"])
    #expect(HostsFile.addresses(of: "other", in: text).map(\.description) == ["192.0.2.9"])
    #expect(HostsFile.addresses(of: "comment", in: text).isEmpty)
  }
}

@Suite struct SystemFilesTests {
  @Test("a changed file is read again, a missing one is an empty one")
  func refresh() throws {
    let directory = try TemporaryDirectory()
    let paths = SystemFiles.Paths(
      resolverConfiguration: directory.path + "/resolv.conf", hosts: directory.path + "/hosts", patience: .zero)
    var files = SystemFiles(paths: paths)
    let now = Instant(nanoseconds: 1)
    files.refresh(at: now)
    #expect(files.configuration.servers.isEmpty)
    #expect(files.failure == nil)
    let before = files.generation
    try directory.write("resolv.conf", "nameserver 192.0.2.1\n")
    try directory.write("hosts", "192.0.2.7 web\n")
    files.refresh(at: now)
    #expect(files.configuration.servers.count == 1)
    #expect(files.hostsAddresses(of: "web").map(\.description) == ["192.0.2.7"])
    #expect(files.generation > before)
    try directory.write("hosts", "192.0.2.77 web\n")
    files.refresh(at: now)
    #expect(files.hostsAddresses(of: "web").map(\.description) == ["192.0.2.77"])
    let settled = files.generation
    files.refresh(at: now)
    #expect(files.generation == settled)
  }

  @Test("a file that cannot be read is this host's fault")
  func unreadable() throws {
    let directory = try TemporaryDirectory()
    var files = SystemFiles(
      paths: SystemFiles.Paths(resolverConfiguration: directory.path, hosts: directory.path + "/none"))
    files.refresh(at: Instant(nanoseconds: 1))
    #expect(files.failure == FaultCode(errno: EISDIR))
  }
}

/// A directory for a test's files, gone with the value.
final class TemporaryDirectory: Sendable {
  let path: String

  init() throws {
    path = "/tmp/reachd-dns-test.\(getpid()).\(UInt64.random(in: .min ... .max))"
    guard unsafe mkdir(path, 0o755) == 0 else { throw FileFailure(path: path, code: errno) }
  }

  deinit {
    if let directory = unsafe opendir(path) {
      while let entry = unsafe readdir(directory) {
        let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) { pointer in
          unsafe pointer.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
        }
        _ = unsafe unlink(path + "/" + name)
      }
      unsafe closedir(directory)
    }
    _ = unsafe rmdir(path)
  }

  /// Puts a new file in place of the old one, as programs do that change such files.
  func write(_ name: String, _ text: String) throws {
    let temporary = path + "/" + name + ".new"
    guard let file = unsafe fopen(temporary, "w") else { throw FileFailure(path: temporary, code: errno) }
    _ = unsafe fputs(text, file)
    unsafe fclose(file)
    guard unsafe rename(temporary, path + "/" + name) == 0 else { throw FileFailure(path: name, code: errno) }
  }
}

struct FileFailure: Error {
  let path: String
  let code: Int32
}
