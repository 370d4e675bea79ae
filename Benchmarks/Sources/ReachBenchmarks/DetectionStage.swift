internal import CReachBenchmarks
internal import Glibc
internal import ReachCore
internal import ReachIO

/// A network of the benchmark's own: this namespace's `veth0` (192.0.2.1/24) joined to a peer's `veth1` (192.0.2.2), on
/// which every address of 198.51.100.0/22 answers at one port. It is gone with this value, and the thread is back where
/// it was.
final class DetectionStage {
  /// Cannot be had here, which is no failure of the benchmark.
  struct Unavailable: Error, CustomStringConvertible {
    let description: String
  }

  /// The port that answers.
  let port: UInt16
  /// The index of `veth0`.
  let index: Int32
  private let home: Descriptor
  private let host: Descriptor
  private let control: Descriptor
  private let server: Int32

  init() throws {
    home = try Self.currentNamespace()
    let code = CReachBenchmarks_unshare_network()
    if code != 0 { throw Unavailable(description: "no network namespace: \(FaultCode(errno: code).name)") }
    host = try Self.currentNamespace()
    _ = CReachBenchmarks_unshare_network()
    let peer = try Self.currentNamespace()
    try Self.ip("link set lo up")
    _ = CReachBenchmarks_enter_network(host.number)
    try Self.ip(
      """
      link set lo up
      link add veth0 type veth peer name veth1 netns /proc/\(getpid())/fd/\(peer.number)
      address add 192.0.2.1/24 dev veth0
      link set veth0 up
      route add 198.51.100.0/22 via 192.0.2.2
      """)
    _ = CReachBenchmarks_enter_network(peer.number)
    try Self.ip(
      """
      address add 192.0.2.2/24 dev veth1
      link set veth1 up
      route add local 198.51.100.0/22 dev lo
      """)
    control = Descriptor(owning: try checked("socket", CReachBenchmarks_control_socket()))
    var port: UInt16 = 0
    server = try checked("fork", unsafe CReachBenchmarks_start_listener(0, &port))
    self.port = port
    _ = CReachBenchmarks_enter_network(host.number)
    index = Int32(bitPattern: unsafe if_nametoindex("veth0"))
  }

  deinit {
    CReachBenchmarks_stop_listener(server)
    _ = CReachBenchmarks_enter_network(home.number)
  }

  /// Gives `veth0` its carrier, or takes it away.
  func setCarrier(_ isThere: Bool) throws {
    let code = unsafe CReachBenchmarks_set_up(control.number, "veth1", isThere ? 1 : 0)
    if code != 0 { throw SystemError("ioctl", FaultCode(errno: code)) }
  }

  private static func currentNamespace() throws(SystemError) -> Descriptor {
    Descriptor(owning: try checked("open", unsafe open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)))
  }

  private static func ip(_ lines: String) throws {
    for line in lines.split(separator: "\n") {
      let words = ["ip"] + line.split(separator: " ").map(String.init)
      let status = CReachBenchmarks_wait(try start(words, output: 2))
      if status != 0 { throw Unavailable(description: "'\(words.joined(separator: " "))' failed with \(status)") }
    }
  }
}

/// Starts a program, with that descriptor as its standard output and error.
func start(_ arguments: [String], output: Int32) throws(SystemError) -> Int32 {
  var copies: [UnsafeMutablePointer<CChar>?] = unsafe arguments.map { unsafe strdup($0) } + [nil]
  defer { unsafe copies.forEach { unsafe free($0) } }
  return try checked("fork", unsafe CReachBenchmarks_start(&copies, output))
}

/// A result that is a negative errno, or -1 with errno set, when something failed.
func checked(_ call: StaticName, _ result: Int32) throws(SystemError) -> Int32 {
  if result == -1 { throw SystemError.current(call) }
  if result < 0 { throw SystemError(call, FaultCode(errno: -result)) }
  return result
}
