internal import CReachLinux
internal import ReachCore

extension RouteMessage {
  /// Reads an RTM_NEWROUTE or RTM_DELROUTE; nil for a family that is neither IPv4 nor IPv6.
  init?(_ header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    let type = header.type
    guard let body = bytes.body(rtmsg.self, of: header) else { throw MalformedMessage(.body, messageType: type) }
    guard let family = IPAddress.Family(socketFamily: Int32(body.rtm_family)) else { return nil }
    self.init(
      family: family, type: body.rtm_type, prefixLength: body.rtm_dst_len, flags: UInt32(body.rtm_flags),
      table: UInt32(body.rtm_table), outputInterface: 0, legs: [])
    protocolNumber = body.rtm_protocol
    var attributes = AttributeCursor(afterBodyOf: MemoryLayout<rtmsg>.size, of: header)
    while let attribute = try attributes.next(in: bytes) {
      try read(attribute, attributes, in: bytes)
    }
  }

  private mutating func read(
    _ attribute: Attribute, _ cursor: AttributeCursor, in bytes: RawSpan
  ) throws(MalformedMessage) {
    switch attribute.type {
    case Int(RTA_DST.rawValue): destination = try cursor.address(attribute, of: family, in: bytes)
    case Int(RTA_OIF.rawValue): outputInterface = try cursor.index(attribute, in: bytes)
    case Int(RTA_GATEWAY.rawValue): gateway = try cursor.address(attribute, of: family, in: bytes)
    case Int(RTA_VIA.rawValue): gateway = try cursor.via(attribute, in: bytes)
    case Int(RTA_PREFSRC.rawValue): preferredSource = try cursor.address(attribute, of: family, in: bytes)
    case Int(RTA_TABLE.rawValue): table = try cursor.word(attribute, in: bytes)
    case Int(RTA_PRIORITY.rawValue): priority = try cursor.word(attribute, in: bytes)
    case Int(RTA_NH_ID.rawValue): nexthopID = try cursor.word(attribute, in: bytes)
    case Int(RTA_MULTIPATH.rawValue): legs = try Self.legs(attribute, family, cursor.messageType, in: bytes)
    default: break
    }
  }

  /// RTA_MULTIPATH: a row of struct rtnexthop, each with attributes of its own.
  private static func legs(
    _ attribute: Attribute, _ family: IPAddress.Family, _ messageType: UInt16, in bytes: RawSpan
  ) throws(MalformedMessage) -> [RouteFinding.Leg] {
    let headerSize = MemoryLayout<rtnexthop>.size
    var legs: [RouteFinding.Leg] = []
    var offset = attribute.payload.lowerBound
    while offset <= attribute.payload.upperBound &- headerSize, let hop = bytes.load(rtnexthop.self, at: offset) {
      let length = Int(hop.rtnh_len)
      guard length >= headerSize else { break }
      guard length <= attribute.payload.upperBound &- offset else {
        throw MalformedMessage(.attributeLength, messageType: messageType, attribute: UInt16(RTA_MULTIPATH.rawValue))
      }
      // rtnh_hops is the weight less one.
      var leg = RouteFinding.Leg(
        interfaceIndex: hop.rtnh_ifindex, gateway: nil, weight: Int(hop.rtnh_hops) &+ 1,
        isDead: Int32(hop.rtnh_flags) & RTNH_F_DEAD != 0)
      var nested = AttributeCursor(from: offset &+ headerSize, to: offset &+ length, messageType: messageType)
      while let inner = try nested.next(in: bytes) {
        switch inner.type {
        case Int(RTA_GATEWAY.rawValue): leg.gateway = try nested.address(inner, of: family, in: bytes)
        case Int(RTA_VIA.rawValue): leg.gateway = try nested.via(inner, in: bytes)
        default: break
        }
      }
      legs.append(leg)
      offset &+= aligned(length)
    }
    return legs
  }
}

extension AttributeCursor {
  /// RTA_VIA: a gateway of another family than the route's (struct rtvia); nil for a family that is not IP.
  fileprivate func via(_ attribute: Attribute, in bytes: RawSpan) throws(MalformedMessage) -> IPAddress? {
    guard attribute.payload.count > 2, let number = bytes.half(at: attribute.payload.lowerBound) else {
      throw wrongSize(attribute)
    }
    guard let family = IPAddress.Family(socketFamily: Int32(number)) else { return nil }
    let inner = Attribute(
      type: attribute.type, payload: (attribute.payload.lowerBound &+ 2)..<attribute.payload.upperBound)
    return try address(inner, of: family, in: bytes)
  }
}
