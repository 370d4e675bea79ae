internal import CReachLinux
internal import Glibc
internal import ReachCore
public import ReachIO

/// Requests to rtnetlink(7) and their answers.
///
/// rtnetlink answers within send(2), and makes the rest of a dump within recv(2), so that no request waits for
/// anything. Buffers are used again: a lookup allocates nothing unless its answer has several next hops.
///
/// Isolation: on the event loop alone.
public final class NetlinkSession: Sendable {
  struct State {
    var sequence: UInt32 = 0
    var request: [UInt8] = []
    var answer = [UInt8](repeating: 0, count: 32 * 1024)
    var proven: Set<IPAddress.Family> = []
    var counters = Counters()
  }

  /// What a session has met.
  public struct Counters: Hashable, Sendable {
    /// Requests sent.
    public var requests = 0
    /// Messages that answered no request of ours, or that came from another process than the kernel.
    public var strays = 0
    /// Messages that could not be understood.
    public var malformed = 0
    /// Dumps begun again since the tables had changed under them.
    public var restarts = 0
  }

  let socket: NetlinkSocket
  let state: LoopConfined<State>

  /// Opens the socket. Throws what socket(2) or bind(2) failed with.
  public init(loop: EventLoop) throws(SystemError) {
    socket = try NetlinkSocket()
    state = LoopConfined(State(), on: loop)
    // All three are refinements that an old kernel may lack: the reason for an error in words, errors without the
    // request's echo, and dumps and requests that are checked strictly.
    try? socket.set(NETLINK_EXT_ACK, 1)
    try? socket.set(NETLINK_CAP_ACK, 1)
    try? socket.set(NETLINK_GET_STRICT_CHK, 1)
  }

  /// A session on a host that lets this process have no socket of this kind: every request is answered by that error.
  public init(loop: EventLoop, refusedBy error: SystemError) {
    socket = NetlinkSocket(refusedBy: error)
    state = LoopConfined(State(), on: loop)
  }

  /// Why nothing can be asked; nil where it can.
  public var refusal: SystemError? { socket.refusal }

  /// What the session has met so far.
  public var counters: Counters { state.withState { $0.counters } }
}
