internal import CReachTestSupport
internal import Glibc
public import ReachIO

/// A network namespace (network_namespaces(7)), held by a descriptor. It ends with its stage and its last socket.
///
/// Isolation: as `NetworkStage`.
public final class NetworkNamespace: Sendable {
  /// What messages call it.
  public let name: String
  private let descriptor: Descriptor
  private let loop: EventLoop
  private let home: NetworkNamespace?

  /// The namespace that the calling thread is in. `home` is the one to go back to; nil for the home itself.
  init(name: String, loop: EventLoop, home: NetworkNamespace?) throws(SystemError) {
    self.name = name
    self.loop = loop
    self.home = home
    descriptor = Descriptor(
      owning: try retryingInterrupts("open") { unsafe open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC) })
  }

  /// The namespace that a process is in.
  init(name: String, ofProcess process: Int32, loop: EventLoop, home: NetworkNamespace) throws(SystemError) {
    self.name = name
    self.loop = loop
    self.home = home
    descriptor = Descriptor(
      owning: try retryingInterrupts("open") { unsafe open("/proc/\(process)/ns/net", O_RDONLY | O_CLOEXEC) })
  }

  /// A path by which `ip` finds the namespace: `ip link set veth1 netns PATH`.
  public var path: String {
    // It names the thread and not the process, since the thread may have descriptors of its own.
    "/proc/\(CReachTestSupport_thread_id())/fd/\(descriptor.number)"
  }

  /// Runs `body` inside: sockets it opens belong to this namespace for good, and programs it runs see it.
  ///
  /// It must not suspend, which the type sees to: the thread goes back before anything else can run on the loop.
  public func perform<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    loop.assertConfined()
    guard let home else { return try body() }
    enter()
    defer { home.enter() }
    return try body()
  }

  /// Puts the thread into this namespace. A namespace that is held open can always be entered by who made it.
  func enter() {
    let code = CReachTestSupport_enter_network(descriptor.number)
    precondition(code == 0, "setns failed with errno \(code)")
  }

  /// Waits until `ip link show` prints all these words of the interface, such as `NO-CARRIER` or `state UP`.
  ///
  /// A worker of the kernel spreads a change of carrier some time after it has come about at the other end. Throws
  /// `ProgramFailure` when it has not for ten seconds, or there is no such interface.
  public func awaitLink(_ interface: String, showing words: String...) throws {
    var shown = ""
    for _ in 0..<5000 {
      shown = try run(["ip", "-oneline", "link", "show", "dev", interface])
      if words.allSatisfy({ shown.contains($0) }) { return }
      usleep(2000)
    }
    throw ProgramFailure(description: "waited in vain for \(words) in: \(shown)")
  }

  /// Runs `ip` commands, one a line without the word `ip`, in one run of `ip -batch`. Empty lines and `#` are allowed.
  ///
  /// Throws `ProgramFailure`, which names the line, at the first that fails. IPv6 addresses can be used on return where
  /// their interface is up.
  public func ip(_ lines: String) throws {
    try run(["ip", "-batch", "-"], input: lines + "\n")
    try awaitAddresses()
  }

  /// The same for `ip -6`: needed for rules, and for routes whose family no address in the line tells.
  public func ip6(_ lines: String) throws {
    try run(["ip", "-6", "-batch", "-"], input: lines + "\n")
    try awaitAddresses()
  }

  /// Even without duplicate address detection a new IPv6 address is tentative, and no local route, until a worker of
  /// the kernel has come round to it; nothing tells when, so this looks until all are. On an interface that is down
  /// that may never be.
  private func awaitAddresses() throws {
    for _ in 0..<500 {
      if try perform({ () throws(SystemError) in try areAddressesReady() }) { return }
      usleep(500)
    }
  }

  private func areAddressesReady() throws(SystemError) -> Bool {
    let addresses = try readFile("/proc/thread-self/net/if_inet6").split(separator: "\n")
    let routes = try readFile("/proc/thread-self/net/ipv6_route").split(separator: "\n")
    return addresses.allSatisfy { line in
      let fields = line.split(separator: " ")
      guard fields.count > 4, let flags = UInt8(fields[4], radix: 16) else { return true }
      let isTentative = flags & 0x40 != 0
      return !isTentative && routes.contains { $0.hasPrefix("\(fields[0]) 80 ") }
    }
  }

  /// Runs nftables commands (nft(8)), all of them or none. Throws `ProgramFailure`.
  public func nft(_ rules: String) throws { try run(["nft", "-f", "-"], input: rules + "\n") }

  /// Sets a parameter below /proc/sys/net, such as `ipv4/conf/veth0/forwarding`. Throws `SystemError`.
  public func set(_ path: String, to value: String) throws(SystemError) {
    try perform { () throws(SystemError) in try writeNetworkParameter(path, value) }
  }

  /// Runs a program here to its end and returns what it printed. Throws `ProgramFailure` when it fails.
  @discardableResult
  public func run(_ arguments: [String], input: String = "") throws -> String {
    let result = try perform { try runProgram(arguments, input: input) }
    guard result.isSuccess else {
      throw ProgramFailure(
        description: "\(arguments.joined(separator: " ")) in \(name): status \(result.status)\n\(result.output)\(input)"
      )
    }
    return result.output
  }
}
