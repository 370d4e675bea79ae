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
  /// RTM_F_FIB_MATCH: answer with the matching entry of the table rather than the resolved route.
  public var isFIBMatch: Bool

  /// A query.
  public init(
    destination: IPAddress, source: IPAddress? = nil, outputInterface: Int32 = 0, mark: UInt32? = nil,
    isFIBMatch: Bool = false
  ) {
    self.destination = destination
    self.source = source
    self.outputInterface = outputInterface
    self.mark = mark
    self.isFIBMatch = isFIBMatch
  }
}

/// What the kernel said to a route query.
public enum RouteAnswer: Hashable, Sendable {
  /// A route.
  case route(RouteMessage)
  /// The errno of the kernel's own decision, carried by its reply.
  case refused(FaultCode)
  /// The request did not get through, or its reply could not be understood: nothing is known of the route.
  case fault(FaultCode)
}

/// A decoded RTM_NEWROUTE.
public struct RouteMessage: Hashable, Sendable {
  /// The family.
  public var family: IPAddress.Family
  /// rtm_type: RTN_UNICAST, RTN_LOCAL, … (rtnetlink(7)).
  public var type: UInt8
  /// rtm_dst_len: the prefix's length in bits; 32 or 128 for a resolved route.
  public var prefixLength: UInt8
  /// rtm_flags: RTNH_F_LINKDOWN and others.
  public var flags: UInt32
  /// RTA_TABLE, or rtm_table.
  public var table: UInt32
  /// RTA_DST.
  public var destination: IPAddress?
  /// RTA_OIF; 0 for none.
  public var outputInterface: Int32
  /// RTA_GATEWAY or RTA_VIA.
  public var gateway: IPAddress?
  /// RTA_PREFSRC.
  public var preferredSource: IPAddress?
  /// RTA_PRIORITY.
  public var priority: UInt32?
  /// RTA_NH_ID: the nexthop object.
  public var nexthopID: UInt32?
  /// RTA_MULTIPATH.
  public var legs: [RouteFinding.Leg]
}
