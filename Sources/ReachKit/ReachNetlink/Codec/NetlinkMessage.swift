internal import CReachLinux

/// One decoded message of rtnetlink(7).
public enum NetlinkMessage: Hashable, Sendable {
  /// RTM_NEWROUTE or RTM_DELROUTE of IPv4 or IPv6.
  case route(RouteMessage, isRemoval: Bool)
  /// NLMSG_ERROR: how a request ended.
  case acknowledgement(NetlinkAck)
  /// NLMSG_DONE: a dump has ended.
  case done(NetlinkAck)
  /// Any other message.
  case other

  /// Reads a message whose header has been read. Never traps; throws when a length or a size in it cannot be.
  public init(_ header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    switch Int(header.type) {
    case RTM_NEWROUTE, RTM_DELROUTE:
      let route = try RouteMessage(header, in: bytes)
      self = route.map { .route($0, isRemoval: Int(header.type) == RTM_DELROUTE) } ?? .other
    case Int(NLMSG_ERROR): self = .acknowledgement(try NetlinkAck(error: header, in: bytes))
    case Int(NLMSG_DONE): self = .done(try NetlinkAck(done: header, in: bytes))
    default: self = .other
    }
  }
}
