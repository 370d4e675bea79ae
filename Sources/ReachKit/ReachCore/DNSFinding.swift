/// What name resolution said.
public struct DNSFinding: Hashable, Sendable {
  /// What came of one query, or of both families together.
  public enum Result: Hashable, Sendable {
    /// There are addresses.
    case resolved
    /// There are none, or they could not be had, for this reason of the dns layer.
    case failed(Reason)
    /// This host could not ask.
    case fault(LocalFault)
  }

  /// The verdict over the families that were asked for: one that has addresses is enough.
  public var result: Result
  /// Every address, in the order to be tried; those of a stale answer too.
  public var addresses: [IPAddress]
  /// What the A query said; nil when it was not asked.
  public var ipv4: Result?
  /// What the AAAA query said; nil when it was not asked.
  public var ipv6: Result?
  /// The smallest TTL of the answer; nil for a failure or an answer from /etc/hosts.
  public var ttl: Duration?
  /// Whether the addresses are from an earlier answer, past its time, while the resolver fails. `result` then holds
  /// the failure.
  public var isStale: Bool
  /// Whether the answer was taken from memory within its time, and nothing was asked.
  public var isCached: Bool
  /// The name servers that were asked, in order; the one that answered first.
  public var servers: [IPAddress]
  /// Queries sent, retries included.
  public var attempts: Int

  /// A finding.
  public init(
    _ result: Result, addresses: [IPAddress] = [], ipv4: Result? = nil, ipv6: Result? = nil, ttl: Duration? = nil,
    isStale: Bool = false, isCached: Bool = false, servers: [IPAddress] = [], attempts: Int = 0
  ) {
    self.result = result
    self.addresses = addresses
    self.ipv4 = ipv4
    self.ipv6 = ipv6
    self.ttl = ttl
    self.isStale = isStale
    self.isCached = isCached
    self.servers = servers
    self.attempts = attempts
  }
}
