public import ReachCore

/// What RTM_GETROUTE is asked (rtnetlink(7)).
public struct RouteQuery: Hashable, Sendable {
  /// RTA_DST.
  public var destination: IPAddress
  /// RTA_SRC.
  public var source: IPAddress?
  /// RTA_OIF: an interface's index; 0 for none.
  public var outputInterface: Int32
  /// RTA_MARK; nil leaves it out.
  public var mark: UInt32?
  /// RTA_DPORT, with TCP as RTA_IP_PROTO, which rules may match (`ip rule … ipproto tcp dport 443`); nil leaves both out.
  public var tcpPort: UInt16?
  /// RTM_F_FIB_MATCH: answer with the matching entry of the table rather than the resolved route.
  public var isFIBMatch: Bool

  /// A query.
  public init(
    destination: IPAddress, source: IPAddress? = nil, outputInterface: Int32 = 0, mark: UInt32? = nil,
    tcpPort: UInt16? = nil, isFIBMatch: Bool = false
  ) {
    self.destination = destination
    self.source = source
    self.outputInterface = outputInterface
    self.mark = mark
    self.tcpPort = tcpPort
    self.isFIBMatch = isFIBMatch
  }
}
