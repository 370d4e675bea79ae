public import ReachCore
public import ReachIO
public import ReachNetlink

/// One way of looking at a target. Runs on the event loop; never blocks it.
///
/// Isolation: every call comes from a task on the host's event loop and must stay on it; calls for different targets
/// overlap. The framework owns interval, spread, deadline, overlap, success, duration and counters.
public protocol ProbeBackend: Sendable {
  /// Observes the target once and returns what was seen, by the context's deadline.
  ///
  /// Throws only for faults of this host, never for a bad target: a target that cannot be reached is evidence. When
  /// the deadline passes it returns evidence of that, such as a timeout. When its task is cancelled it ends soon, with
  /// anything at all; the result is thrown away.
  func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence
}

/// What a probe is given for one observation.
public struct ProbeContext: Sendable {
  /// The loop and the kernel's tables.
  public let host: ProbeHost
  /// The one absolute deadline: of the round, or of this probe where its own timeout ends sooner.
  public let deadline: Instant
  /// The ways to the target, with what the probes before this one saw of each. Empty until a name has been resolved.
  public let candidates: [Candidate]
  /// What resolution said in this round, for a name.
  public let dns: DNSFinding?
  /// Where to say what is being done, for a person who debugs a target; nil when nobody listens.
  public let log: (any ProbeLog)?

  /// A context.
  public init(
    host: ProbeHost, deadline: Instant, candidates: [Candidate], dns: DNSFinding? = nil, log: (any ProbeLog)? = nil
  ) {
    self.host = host
    self.deadline = deadline
    self.candidates = candidates
    self.dns = dns
    self.log = log
  }
}

/// What all probes of a process share.
public final class ProbeHost: Sendable {
  /// The loop that every probe runs on.
  public let loop: EventLoop
  /// The interfaces, as the kernel last told of them.
  public let links: LinkMonitor
  /// For requests to the kernel's routing tables.
  public let netlink: NetlinkSession
  /// The addresses that stand for the two halves of the IPv4 space, for default targets. Nothing is sent to them. A change
  /// holds for rounds that begin later. On the event loop.
  public var defaultPath: [IPAddress] {
    get { standing.withState { $0 } }
    set { standing.withState { $0 = newValue } }
  }
  /// The sockets that probes may open beside the one that each round is entitled to at a time: a backend that wants to
  /// try several things side by side takes them from here, and does with fewer when there are none.
  public let connections: SocketAllowance
  /// The sockets that are kept open from one round to the next, such as those to name servers.
  public let keptSockets: SocketAllowance

  private let standing: LoopConfined<[IPAddress]>

  /// A host. Without allowances nothing but the kernel bounds how many sockets are open.
  public init(
    loop: EventLoop, links: LinkMonitor, netlink: NetlinkSession, defaultPath: [IPAddress],
    connections: SocketAllowance? = nil, keptSockets: SocketAllowance? = nil
  ) {
    self.loop = loop
    self.links = links
    self.netlink = netlink
    standing = LoopConfined(defaultPath, on: loop)
    self.connections = connections ?? SocketAllowance(on: loop)
    self.keptSockets = keptSockets ?? SocketAllowance(on: loop)
  }
}

/// Listens to what a probe says it is doing.
public protocol ProbeLog: Sendable {
  /// Takes one line, without its end.
  func note(_ line: String)
}
