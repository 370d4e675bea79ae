public import ReachCore

/// A decoded RTM_NEWROUTE or RTM_DELROUTE (rtnetlink(7)).
public struct RouteMessage: Hashable, Sendable {
  /// The family.
  public var family: IPAddress.Family
  /// rtm_type: RTN_UNICAST, RTN_LOCAL, … (rtnetlink(7)).
  public var type: UInt8
  /// rtm_dst_len: the prefix's length in bits; 32 or 128 for a resolved route.
  public var prefixLength: UInt8
  /// rtm_protocol: who put the route there; RTPROT_KERNEL, RTPROT_DHCP, … .
  public var protocolNumber: UInt8 = 0
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

  /// A route of that family, type and table; the rest is what a message without the attributes says.
  public init(
    family: IPAddress.Family, type: UInt8, prefixLength: UInt8, flags: UInt32 = 0, table: UInt32,
    destination: IPAddress? = nil, outputInterface: Int32 = 0, gateway: IPAddress? = nil,
    preferredSource: IPAddress? = nil, priority: UInt32? = nil, nexthopID: UInt32? = nil,
    legs: [RouteFinding.Leg] = []
  ) {
    self.family = family
    self.type = type
    self.prefixLength = prefixLength
    self.flags = flags
    self.table = table
    self.destination = destination
    self.outputInterface = outputInterface
    self.gateway = gateway
    self.preferredSource = preferredSource
    self.priority = priority
    self.nexthopID = nexthopID
    self.legs = legs
  }
}
