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
    /// How often that failed, or brought only a part, to be tried again.
    public var failedResyncs: UInt64 = 0
    /// Messages that could not be understood, and were skipped.
    public var malformed: UInt64 = 0
    /// Datagrams of another process than the kernel, which were ignored.
    public var strays: UInt64 = 0
    /// How often an interface's carrier had come and gone, or gone and come, before it was told: see
    /// `NetworkChange.Kinds.flap`.
    public var flaps: UInt64 = 0
  }

  /// What the monitor has met so far.
  public var counters: Counters {
    let counts = state.withState { $0.core.counts }
    return Counters(
      messages: counts.messagesByName, overruns: counts.overruns, resyncs: counts.resyncs,
      failedResyncs: counts.failedResyncs, malformed: counts.malformed, strays: counts.strays, flaps: counts.flaps)
  }
}
