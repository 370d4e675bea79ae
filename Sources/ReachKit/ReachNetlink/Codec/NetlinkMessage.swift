internal import CReachLinux

/// One decoded message of rtnetlink(7).
public enum NetlinkMessage: Hashable, Sendable {
  /// RTM_NEWLINK or RTM_DELLINK about an interface as such.
  case link(LinkAttributes, isRemoval: Bool)
  /// RTM_NEWADDR or RTM_DELADDR of IPv4 or IPv6.
  case address(AddressMessage, isRemoval: Bool)
  /// RTM_NEWROUTE or RTM_DELROUTE of IPv4 or IPv6.
  case route(RouteMessage, isRemoval: Bool)
  /// RTM_NEWNEIGH or RTM_DELNEIGH of IPv4 or IPv6.
  case neighbour(NeighbourMessage, isRemoval: Bool)
  /// NLMSG_ERROR: how a request ended.
  case acknowledgement(NetlinkAck)
  /// NLMSG_DONE: a dump has ended.
  case done(NetlinkAck)
  /// Any other message.
  case other

  /// Reads a message whose header has been read from the same bytes. Never traps; throws when a length or a size in it
  /// cannot be.
  public init(_ header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    let type = Int(header.type)
    switch type {
    case RTM_NEWROUTE, RTM_DELROUTE:
      let route = try RouteMessage(header, in: bytes)
      self = route.map { .route($0, isRemoval: type == RTM_DELROUTE) } ?? .other
    case RTM_NEWLINK, RTM_DELLINK:
      let link = try LinkAttributes(header, in: bytes)
      self = link.map { .link($0, isRemoval: type == RTM_DELLINK) } ?? .other
    case RTM_NEWADDR, RTM_DELADDR:
      let address = try AddressMessage(header, in: bytes)
      self = address.map { .address($0, isRemoval: type == RTM_DELADDR) } ?? .other
    case RTM_NEWNEIGH, RTM_DELNEIGH:
      let neighbour = try NeighbourMessage(header, in: bytes)
      self = neighbour.map { .neighbour($0, isRemoval: type == RTM_DELNEIGH) } ?? .other
    case Int(NLMSG_ERROR): self = .acknowledgement(try NetlinkAck(error: header, in: bytes))
    case Int(NLMSG_DONE): self = .done(try NetlinkAck(done: header, in: bytes))
    default: self = .other
    }
  }
}
