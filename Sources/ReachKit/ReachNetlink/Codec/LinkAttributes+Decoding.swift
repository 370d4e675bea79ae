internal import CReachLinux
internal import ReachCore

extension LinkAttributes {
  /// Reads an RTM_NEWLINK or RTM_DELLINK; nil when it is not about the interface as such: a bridge's message about its
  /// port (AF_BRIDGE) is sent to the same group, and its RTM_DELLINK does not mean that the interface is gone; an event
  /// of a wireless driver (IFLA_WIRELESS) is an RTM_NEWLINK that leaves out most of what the interface is.
  init?(_ header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    guard let body = bytes.body(ifinfomsg.self, of: header), body.ifi_index > 0 else {
      throw MalformedMessage(.body, messageType: header.type)
    }
    guard Int32(body.ifi_family) == AF_UNSPEC else { return nil }
    self.init(index: body.ifi_index, name: "", flags: body.ifi_flags, hardwareType: body.ifi_type)
    var attributes = AttributeCursor(afterBodyOf: MemoryLayout<ifinfomsg>.size, of: header)
    while let attribute = try attributes.next(in: bytes) {
      if attribute.type == IFLA_WIRELESS { return nil }
      try read(attribute, attributes, in: bytes)
    }
  }

  private mutating func read(
    _ attribute: Attribute, _ cursor: AttributeCursor, in bytes: RawSpan
  ) throws(MalformedMessage) {
    switch attribute.type {
    case IFLA_IFNAME: name = bytes.text(in: attribute.payload)
    case IFLA_ADDRESS: hardwareAddress = bytes.octets(in: attribute.payload)
    case IFLA_OPERSTATE: operState = OperState(rawValue: try cursor.octet(attribute, in: bytes)) ?? .unknown
    case IFLA_LINKMODE: linkMode = try cursor.octet(attribute, in: bytes)
    case IFLA_CARRIER: hasCarrier = try cursor.octet(attribute, in: bytes) != 0
    case IFLA_CARRIER_CHANGES: carrierChanges = try cursor.word(attribute, in: bytes)
    case IFLA_MTU: mtu = try cursor.word(attribute, in: bytes)
    case IFLA_LINK: lowerIndex = try cursor.index(attribute, in: bytes)
    case IFLA_LINK_NETNSID: isLowerElsewhere = true
    case IFLA_MASTER: masterIndex = try cursor.index(attribute, in: bytes)
    case IFLA_LINKINFO: try readInfo(attribute, cursor.messageType, in: bytes)
    case IFLA_PROP_LIST: try readNames(attribute, cursor.messageType, in: bytes)
    default: break
    }
  }

  private mutating func readNames(
    _ list: Attribute, _ messageType: UInt16, in bytes: RawSpan
  ) throws(MalformedMessage) {
    var nested = AttributeCursor(in: list, messageType: messageType)
    while let attribute = try nested.next(in: bytes) {
      guard attribute.type == IFLA_ALT_IFNAME else { continue }
      alternativeNames.append(bytes.text(in: attribute.payload))
    }
  }

  /// IFLA_LINKINFO. What its data mean depends on the kind, which may stand behind them.
  private mutating func readInfo(
    _ info: Attribute, _ messageType: UInt16, in bytes: RawSpan
  ) throws(MalformedMessage) {
    var nested = AttributeCursor(in: info, messageType: messageType)
    var data: Attribute?
    while let attribute = try nested.next(in: bytes) {
      switch attribute.type {
      case IFLA_INFO_KIND: kind = bytes.text(in: attribute.payload)
      case IFLA_INFO_SLAVE_KIND: portKind = bytes.text(in: attribute.payload)
      case IFLA_INFO_DATA: data = attribute
      default: break
      }
    }
    guard let data else { return }
    let cursor = AttributeCursor(in: data, messageType: messageType)
    switch kind {
    case "ipip", "sit", "ip6tnl": tunnel = try Tunnel(cursor, .iptun, in: bytes)
    case "gre", "gretap", "ip6gre", "ip6gretap": tunnel = try Tunnel(cursor, .gre, in: bytes)
    case "vti", "vti6": tunnel = try Tunnel(cursor, .vti, in: bytes)
    case "bond": activePort = try Self.activePort(cursor, in: bytes)
    default: break
    }
  }

  private static func activePort(_ start: AttributeCursor, in bytes: RawSpan) throws(MalformedMessage) -> Int32 {
    var cursor = start
    while let attribute = try cursor.next(in: bytes) {
      if attribute.type == IFLA_BOND_ACTIVE_SLAVE { return try cursor.index(attribute, in: bytes) }
    }
    return 0
  }
}

/// The attributes that mean the same in the three ways tunnels are described (`linux/if_tunnel.h`).
private struct TunnelLayout {
  let link, local, remote, mark: Int

  static let iptun = TunnelLayout(
    link: IFLA_IPTUN_LINK, local: IFLA_IPTUN_LOCAL, remote: IFLA_IPTUN_REMOTE, mark: IFLA_IPTUN_FWMARK)
  static let gre = TunnelLayout(
    link: IFLA_GRE_LINK, local: IFLA_GRE_LOCAL, remote: IFLA_GRE_REMOTE, mark: IFLA_GRE_FWMARK)
  static let vti = TunnelLayout(
    link: IFLA_VTI_LINK, local: IFLA_VTI_LOCAL, remote: IFLA_VTI_REMOTE, mark: IFLA_VTI_FWMARK)
}

extension LinkAttributes.Tunnel {
  /// Reads a tunnel's ends; nil when its far end is not fixed.
  fileprivate init?(_ start: AttributeCursor, _ layout: TunnelLayout, in bytes: RawSpan) throws(MalformedMessage) {
    var cursor = start
    var far: IPAddress?
    var near: IPAddress?
    var link: Int32 = 0
    var mark: UInt32 = 0
    while let attribute = try cursor.next(in: bytes) {
      switch attribute.type {
      case layout.remote: far = try cursor.address(attribute, in: bytes)
      case layout.local: near = try cursor.address(attribute, in: bytes)
      case layout.link: link = try cursor.index(attribute, in: bytes)
      case layout.mark: mark = try cursor.word(attribute, in: bytes)
      default: break
      }
    }
    guard let far, !far.isUnspecified, !far.isMulticast else { return nil }
    self.init(
      remote: far, local: near.flatMap { $0.isUnspecified ? nil : $0 }, outputInterface: link, mark: mark)
  }
}
