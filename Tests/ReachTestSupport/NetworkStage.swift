internal import CReachTestSupport
internal import Glibc
internal import ReachCore
public import ReachIO

/// Runs `body` on an event loop whose thread is in a network namespace of its own, with nothing in it but `lo`, up.
///
/// Every socket that is opened on the loop belongs to that namespace. The stage sets the namespace up, and makes
/// others for peers. All of it is gone once `body` has ended and the last descriptor is closed. IPv6 addresses are
/// usable as soon as they are added (no duplicate address detection), and reverse path filtering is off.
///
/// With `isolatesDescriptors` the loop's thread has a table of descriptors of its own, so that what is left open can
/// be counted; descriptors opened on other threads then mean nothing on the loop.
///
/// Throws what `body` throws, and `SystemError` or `ProgramFailure` when the namespace cannot be had: see
/// `NamespaceSupport.isAvailable`.
public func withNetworkNamespace<Value: Sendable>(
  clock: any LoopClock = SystemClock(), isolatesDescriptors: Bool = false,
  _ body: @escaping @Sendable (EventLoop, NetworkStage) async throws -> Value
) async throws -> Value {
  try await withEventLoop(
    clock: clock,
    prepare: {
      if isolatesDescriptors { try check("close_range", CReachTestSupport_unshare_descriptors()) }
      try check("unshare", CReachTestSupport_unshare_network())
      try prepareNamespace()
    },
    { loop in
      let stage = try NetworkStage(loop: loop)
      defer { withExtendedLifetime(stage) {} }
      return try await body(loop, stage)
    })
}

/// The network namespace that a test runs in, and the means to furnish it.
///
/// Isolation: to be used on its event loop's thread only; commands block that thread until they have ended.
public final class NetworkStage: Sendable {
  /// The namespace of the code under test.
  public let host: NetworkNamespace
  private let loop: EventLoop
  private let ownsMounts: LoopConfined<Bool>
  /// A namespace ends, and takes its interfaces and their peers with it, when nothing holds it: the stage does.
  private let others: LoopConfined<[NetworkNamespace]>

  init(loop: EventLoop) throws(SystemError) {
    self.loop = loop
    host = try NetworkNamespace(name: "host", loop: loop, home: nil)
    ownsMounts = LoopConfined(false, on: loop)
    others = LoopConfined([], on: loop)
  }

  /// Runs lines of `ip` commands in the host's namespace: see `NetworkNamespace.ip`.
  public func ip(_ lines: String) throws { try host.ip(lines) }

  /// Runs lines of `ip -6` commands in the host's namespace: see `NetworkNamespace.ip6`.
  public func ip6(_ lines: String) throws { try host.ip6(lines) }

  /// Runs nftables commands in the host's namespace: see `NetworkNamespace.nft`.
  public func nft(_ rules: String) throws { try host.nft(rules) }

  /// Sets a parameter in the host's namespace: see `NetworkNamespace.set`.
  public func set(_ path: String, to value: String) throws { try host.set(path, to: value) }

  /// Makes another namespace, for a peer or a router, with nothing in it but `lo`, up. `name` is for messages. It stays
  /// as long as the stage.
  public func addNamespace(_ name: String) throws -> NetworkNamespace {
    loop.assertConfined()
    try check("unshare", CReachTestSupport_unshare_network())
    defer { host.enter() }
    try prepareNamespace()
    let namespace = try NetworkNamespace(name: name, loop: loop, home: host)
    others.withState { $0.append(namespace) }
    return namespace
  }

  /// The namespace of a process that made one of its own, such as a container's. `name` is for messages.
  public func namespace(of process: Int32, name: String) throws(SystemError) -> NetworkNamespace {
    try NetworkNamespace(name: name, ofProcess: process, loop: loop, home: host)
  }

  /// Joins two namespaces by a pair of interfaces (veth(4)), both up. They have carrier as long as both are up.
  public func join(
    _ left: NetworkNamespace, _ leftInterface: String, to right: NetworkNamespace, _ rightInterface: String
  ) throws {
    try host.ip(
      """
      link add \(leftInterface) netns \(left.path) type veth peer name \(rightInterface) netns \(right.path)
      """)
    try left.ip("link set \(leftInterface) up")
    try right.ip("link set \(rightInterface) up")
  }

  /// Makes /sys show the host's namespace to the loop's thread; without this /sys/class/net goes on showing the
  /// namespace of whoever mounted it. Holds for the thread alone.
  public func mountSysfs() throws(SystemError) {
    try ownMounts()
    try check("mount", CReachTestSupport_mount_sysfs())
  }

  /// Makes a file that exists, such as /etc/resolv.conf, read as `contents` to the loop's thread. Holds for the thread
  /// alone; other threads and the file itself are untouched.
  public func replaceFile(_ path: String, with contents: String) throws {
    try ownMounts()
    let source = "/tmp/reachd-test.\(getpid()).\(UInt64.random(in: .min ... .max))"
    let number = unsafe open(source, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0o644)
    if number < 0 { throw SystemError.current("open") }
    defer { _ = unsafe unlink(source) }
    try Descriptor(owning: number).writeAll(contents)
    try check("mount", unsafe CReachTestSupport_bind_file(source, path))
  }

  /// Makes a folder that exists, such as /etc, a copy of itself, to be changed at will. Holds for the thread alone. The
  /// copy is gone with what is returned.
  public func copyFolder(_ path: String) throws -> TestFolder {
    try ownMounts()
    let copy = try TestFolder()
    try host.run(["cp", "-a", "--", path + "/.", copy.path])
    try check("mount", unsafe CReachTestSupport_bind_file(copy.path, path))
    return copy
  }

  private func ownMounts() throws(SystemError) {
    try ownsMounts.withState { owned throws(SystemError) in
      if !owned { try check("unshare", CReachTestSupport_unshare_mounts()) }
      owned = true
    }
  }
}

/// What every new namespace gets, on the thread that has just entered it.
private func prepareNamespace() throws {
  for family in ["all", "default"] {
    for (path, value) in [
      ("ipv6/conf/\(family)/accept_dad", "0"), ("ipv6/conf/\(family)/dad_transmits", "0"),
      ("ipv4/conf/\(family)/rp_filter", "0"),
    ] {
      try writeNetworkParameter(path, value)
    }
  }
  let result = try runProgram(["ip", "link", "set", "lo", "up"])
  guard result.isSuccess else { throw ProgramFailure(description: "ip link set lo up: \(result.output)") }
}

func writeNetworkParameter(_ path: String, _ value: String) throws(SystemError) {
  let number = unsafe open("/proc/sys/net/\(path)", O_WRONLY | O_CLOEXEC)
  if number < 0 { throw SystemError.current("open") }
  try Descriptor(owning: number).writeAll(value)
}

func check(_ call: StaticName, _ code: Int32) throws(SystemError) {
  if code != 0 { throw SystemError(call, FaultCode(errno: code)) }
}

extension Descriptor {
  borrowing func writeAll(_ text: String) throws(SystemError) {
    let number = self.number
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = try retryingInterrupts("write") {
        unsafe bytes.withUnsafeBytes { unsafe write(number, $0.baseAddress, $0.count) }
      }
      bytes = bytes.dropFirst(count)
    }
  }
}
