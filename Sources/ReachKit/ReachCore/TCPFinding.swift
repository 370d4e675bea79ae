/// What came of one connect to one address.
public struct TCPFinding: Hashable, Sendable {
  /// How it ended.
  public enum Result: Hashable, Sendable {
    /// Connected, to somebody else than ourselves.
    case open
    /// Not connected, for this reason of the tcp layer.
    case failed(Reason)
    /// connect(2) failed at once with an errno that a routing decision explains as well: believe the route probe; when
    /// the route is fine it is this host's fault.
    case refusedLocally(FaultCode)
    /// This host could not try.
    case fault(FaultCode)
    /// Not tried: the address was passed over.
    case notRun
  }

  /// How it ended.
  public var result: Result
  /// The kernel's round-trip estimate of the handshake (tcp_info.tcpi_rtt, tcp(7)); nil unless open and measured.
  public var rtt: Duration?
  /// From connect(2) to its end: by the kernel's measure where there is one, by the clock otherwise; nil if not run.
  public var duration: Duration?

  /// A finding.
  public init(_ result: Result, rtt: Duration? = nil, duration: Duration? = nil) {
    self.result = result
    self.rtt = rtt
    self.duration = duration
  }
}
