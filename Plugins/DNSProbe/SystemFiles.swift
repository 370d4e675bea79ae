internal import Glibc
internal import ReachCore
internal import ReachIO

/// The system's resolver configuration and hosts file, read again when they have changed.
///
/// A look costs two stat(2) calls at most once in `patience`; reading is for when the inode, the size or the time of
/// change differ. Both are small local files: reading them does not wait for anything.
struct SystemFiles {
  /// Where the files are.
  struct Paths: Hashable, Sendable {
    var resolverConfiguration = "/etc/resolv.conf"
    var hosts = "/etc/hosts"
    /// How long a look at the files holds: less than the agent waits for a burst of changes to be over before it starts
    /// rounds for it, so that these see what the files have become.
    var patience = Duration.milliseconds(50)
  }

  private struct Stamp: Hashable {
    var device: UInt64
    var inode: UInt64
    var size: Int64
    var seconds: Int64
    var nanoseconds: Int64
  }

  /// The configuration as last read; empty when there is no file.
  private(set) var configuration = ResolverConfiguration()
  /// Why the configuration could not be read; nil when it could, or when there is no file.
  private(set) var failure: FaultCode?
  /// Grows with every change that was seen.
  private(set) var generation = 0

  private let paths: Paths
  private var lookedAt: Instant?
  private var configurationStamp: Stamp?
  private var hostsStamp: Stamp?
  private var hosts: [String: [IPAddress]] = [:]

  private static let largestFile = 4 << 20
  private static let mostNames = 4096

  /// The files at these paths; none is read yet.
  init(paths: Paths = Paths()) { self.paths = paths }

  /// Looks whether the files have changed, unless that was done a moment ago.
  mutating func refresh(at now: Instant) {
    if let lookedAt, now < lookedAt.advanced(by: paths.patience) { return }
    let isFirst = lookedAt == nil
    lookedAt = now
    let stamp = Self.stamp(paths.resolverConfiguration)
    if isFirst || stamp != configurationStamp {
      configurationStamp = stamp
      readConfiguration()
    }
    let newHosts = Self.stamp(paths.hosts)
    if isFirst || newHosts != hostsStamp {
      hostsStamp = newHosts
      hosts = [:]
      generation += 1
    }
  }

  /// The addresses that the hosts file lists for the name. The file is searched once a name and change.
  mutating func hostsAddresses(of name: String) -> [IPAddress] {
    guard hostsStamp != nil else { return [] }
    if let known = hosts[name] { return known }
    guard case .success(let text) = Self.read(paths.hosts) else { return [] }
    let found = HostsFile.addresses(of: name, in: text)
    if hosts.count >= Self.mostNames { hosts = [:] }
    hosts[name] = found
    return found
  }

  private mutating func readConfiguration() {
    generation += 1
    switch Self.read(paths.resolverConfiguration) {
    case .success(let text):
      configuration = ResolverConfiguration(parsing: String(decoding: text, as: UTF8.self))
      failure = nil
    case .failure(let error):
      configuration = ResolverConfiguration()
      failure = error.code.errno == ENOENT ? nil : error.code
      // To be tried again at the next look: the file's stamp will not tell when a fault of this host has passed.
      if failure != nil { lookedAt = nil }
    }
  }

  private static func stamp(_ path: String) -> Stamp? {
    var status = stat()
    guard unsafe stat(path, &status) == 0 else { return nil }
    return Stamp(
      device: UInt64(status.st_dev), inode: UInt64(status.st_ino), size: Int64(status.st_size),
      seconds: Int64(status.st_mtim.tv_sec), nanoseconds: Int64(status.st_mtim.tv_nsec))
  }

  private static func read(_ path: String) -> Result<[UInt8], SystemError> {
    let descriptor = unsafe open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard descriptor >= 0 else { return .failure(.current("open")) }
    defer { close(descriptor) }
    var text: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 16_384)
    while text.count < largestFile {
      let count = unsafe Glibc.read(descriptor, &chunk, chunk.count)
      if count == 0 { break }
      if count < 0 {
        if errno == EINTR { continue }
        return .failure(.current("read"))
      }
      text += chunk.prefix(count)
    }
    return .success(text)
  }
}
