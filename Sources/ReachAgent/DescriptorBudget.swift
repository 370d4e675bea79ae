internal import Glibc
internal import ReachCore
internal import ReachIO

/// How the descriptors that this process may open (RLIMIT_NOFILE, getrlimit(2)) are shared out, so that probing can
/// never take those that the endpoint, the log and the kept state need.
///
/// Every round is entitled to one connection at a time; the connections beside it, for names with several addresses,
/// and the sockets to name servers have bounds of their own. What does not fit waits: rounds in the scheduler's queue,
/// clients in the kernel's backlog.
struct DescriptorBudget: Hashable {
  /// The limit that is shared out.
  let limit: Int
  /// Rounds that may run together.
  let rounds: Int
  /// Connections beside the one of each round.
  let connections: Int
  /// Sockets to name servers.
  let keptSockets: Int
  /// Clients of the endpoint on each listening address.
  let clientsPerListener: Int
  /// Whether the limit is so low that something had to be given less than it needs.
  let isTight: Bool

  /// What is kept free beside what is open at the start: for the kernel's events, signals, the kept state, the log's file
  /// when it is opened again, and files that are read in a moment. Each listening address takes two more.
  static let reserve = 16
  /// More is never of use.
  static let mostRounds = 10_000
  /// Clients on each listening address.
  static let mostClients = 128
  /// The same where `/probe` is served: each probe under way has its client.
  static let mostProbingClients = 512
  private static let mostKeptSockets = 512

  /// The shares of a limit of `limit` descriptors, of which `open` are open already, for an endpoint that will listen at
  /// `listeners` addresses for at most `clients` on each.
  init(limit: Int, open: Int, listeners: Int, clients: Int = Self.mostClients) {
    self.limit = limit
    let listeners = max(0, min(listeners, 1_024))
    let overhead = max(0, min(open, 1 << 20)) + Self.reserve + 2 * listeners
    let free = max(0, max(0, min(limit, 1 << 30)) - overhead)
    clientsPerListener = max(2, min(clients, free / 5 / max(1, listeners)))
    let forProbes = max(0, free - clientsPerListener * listeners)
    keptSockets = max(2, min(Self.mostKeptSockets, forProbes / 6))
    connections = max(0, forProbes / 5)
    rounds = max(1, min(Self.mostRounds, forProbes - keptSockets - connections))
    isTight = forProbes < 16
  }
}

extension DescriptorBudget {
  /// The shares of what this process may open, once the soft limit has been raised as far as the hard one allows.
  static func ofThisProcess(listeners: Int, clients: Int = Self.mostClients) -> DescriptorBudget {
    let limit = DescriptorLimit.raise()
    // The limit is on a descriptor's number, so one that was inherited beyond it takes none away.
    let open = (0..<Int32(clamping: min(limit, 1_024))).count { fcntl($0, F_GETFD) >= 0 }
    return DescriptorBudget(limit: limit, open: open, listeners: listeners, clients: clients)
  }
}

extension DescriptorBudget {
  /// What is to be said when rounds wait for others for longer than their interval.
  var crowding: SelfChecks.Trouble {
    let isBoundByLimit = rounds < Self.mostRounds
    return SelfChecks.Trouble(
      check: "descriptors", reason: .probeError(FaultCode(errno: EMFILE)),
      problem: "rounds wait for others to end for longer than their interval: \(rounds) run together at most"
        + (isBoundByLimit ? ", within the limit of \(limit) descriptors" : ""),
      remedy: (isBoundByLimit ? Surroundings.current.remedy(for: .descriptors) + "; or " : "")
        + "lengthen 'interval' or shorten 'timeout'")
  }

  /// What is to be said of a limit that is too low for anything.
  var tightness: SelfChecks.Trouble? {
    guard isTight else { return nil }
    return SelfChecks.Trouble(
      check: "descriptors", reason: .probeError(FaultCode(errno: EMFILE)),
      problem: "the limit of \(limit) descriptors leaves hardly any to probe with",
      remedy: Surroundings.current.remedy(for: .descriptors))
  }
}
