internal import ReachIO

extension LinkMonitor {
  /// What the monitor has met since it began.
  public struct Counters: Hashable, Sendable {
    /// Messages received, by the name of their type such as `RTM_NEWLINK`; `other` for types that mean nothing here.
    public var messages: [String: UInt64] = [:]
    /// How often messages were lost since too many waited (netlink(7), ENOBUFS).
    public var overruns: UInt64 = 0
    /// How often everything was read anew for it.
    public var resyncs: UInt64 = 0
    /// How often that failed, to be tried again.
    public var failedResyncs: UInt64 = 0
    /// Messages that could not be understood, and were skipped.
    public var malformed: UInt64 = 0
    /// Datagrams of another process than the kernel, which were ignored.
    public var strays: UInt64 = 0
  }

  /// What the monitor has met so far.
  public var counters: Counters {
    let counts = state.withState { $0.counts }
    var counters = Counters(
      overruns: counts.overruns, resyncs: counts.resyncs, failedResyncs: counts.failedResyncs,
      malformed: counts.malformed, strays: counts.strays)
    for (type, count) in counts.messages { counters.messages[MessageType.name(type), default: 0] &+= count }
    return counters
  }
}
