internal import CCares
internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// What tells one channel from another.
struct ChannelKey: Hashable, Sendable {
  var server: Nameserver
  var transport: QueryPlan.Transport
  var usesEDNS: Bool
  var source: SourceBinding
}

/// A c-ares channel to one server (ares_init_options(3)), with its socket kept open between queries. Touched on the
/// loop alone, and never ended while c-ares is on the stack.
///
/// c-ares tries each query once: retries, the order of servers and deadlines are the plan's. Its own timeout only
/// clears away queries that nobody waits for.
@safe
final class Channel {
  /// The state that c-ares' calls work on.
  let core: ChannelCore
  /// Names the channel for as long as it lives.
  var number: UInt64 { core.number }
  /// Queries sent so far.
  private(set) var sent = 0

  private var handle: OpaquePointer?
  private let functions: UnsafeMutablePointer<ares_socket_functions>

  /// After so long c-ares gives a query up.
  static let timeoutMilliseconds: Int32 = 5_000
  /// The size of datagram that EDNS offers (RFC 9715: below what any path fragments).
  static let ednsSize: Int32 = 1_232

  /// Opens a channel; no socket yet. Throws a fault when c-ares has no memory.
  init(
    key: ChannelKey, number: UInt64, loop: EventLoop, allowance: SocketAllowance,
    onReady: @escaping @Sendable (Int32, Readiness) -> Void
  ) throws(LocalFault) {
    core = ChannelCore(key: key, number: number, loop: loop, allowance: allowance, onReady: onReady)
    unsafe functions = .allocate(capacity: 1)
    unsafe functions.initialize(to: SocketFunctions.table)
    var settings = unsafe CCares_settings()
    unsafe settings.family = key.server.address.family == .ipv4 ? AF_INET : AF_INET6
    let octets = key.server.address.octets
    unsafe withUnsafeMutableBytes(of: &settings.address) { unsafe $0.copyBytes(from: octets) }
    unsafe settings.port = Int32(key.server.port)
    unsafe settings.uses_tcp = key.transport == .tcp ? 1 : 0
    unsafe settings.edns_size = key.usesEDNS ? Self.ednsSize : 0
    unsafe settings.timeout_ms = Self.timeoutMilliseconds
    unsafe settings.socket_changed = SocketFunctions.changed
    unsafe settings.functions = UnsafePointer(functions)
    unsafe settings.context = Unmanaged.passUnretained(core).toOpaque()
    guard unsafe CCares_open(&handle, &settings) == 0, unsafe handle != nil else {
      unsafe functions.deallocate()
      throw LocalFault(.probeError(.resolverMemory), detail: "ares_init_options for the name server \(key.server)")
    }
  }

  deinit {
    // Calls back for every query that is left, which ends their references to each other.
    if let handle = unsafe handle { unsafe ares_destroy(handle) }
    unsafe functions.deallocate()
  }

  /// Gives the query to c-ares. What comes of it arrives in `core`, perhaps before this returns.
  func send(_ exchange: Exchange) {
    guard let handle = unsafe handle else { return }
    sent += 1
    core.prepare()
    core.held += 1
    core.awaited += 1
    core.sending = exchange
    let reference = unsafe Unmanaged.passRetained(exchange).toOpaque()
    unsafe CCares_query(
      handle, exchange.question.name, Int32(exchange.question.type), SocketFunctions.answered, reference)
    core.sending = nil
    if let error = core.lastError, error.call == "epoll_ctl" {
      core.deliver(SocketErrors.reply(error, server: core.key.server), to: exchange)
    }
  }

  /// Lets c-ares work on a socket that is ready.
  func process(_ descriptor: Int32, _ readiness: Readiness) {
    guard let handle = unsafe handle else { return }
    core.prepare()
    let isReadable = !readiness.isDisjoint(with: [.readable, .error, .hangUp])
    let isWritable = !readiness.isDisjoint(with: [.writable, .error, .hangUp])
    unsafe ares_process_fd(handle, isReadable ? descriptor : -1, isWritable ? descriptor : -1)
    if readiness.contains(.error) { core.drainErrors(descriptor) }
  }

  /// Lets c-ares read from every socket that it reads from, ready or not.
  func readWaiting() {
    for descriptor in core.readDescriptors { process(descriptor, .readable) }
  }

  /// Lets c-ares give up the queries that are older than its timeout.
  func sweep() {
    guard let handle = unsafe handle else { return }
    core.prepare()
    unsafe ares_process_fd(handle, -1, -1)
  }

  /// Frees the queries that nobody waits for, when those are all there are.
  func cancelAbandoned() {
    guard let handle = unsafe handle, core.awaited == 0, core.held > 0 else { return }
    core.prepare()
    unsafe ares_cancel(handle)
  }
}
