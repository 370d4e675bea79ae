internal import CReachLinux
public import ReachCore

/// An address of this host: a decoded RTM_NEWADDR or RTM_DELADDR (rtnetlink(7)).
public struct AddressMessage: Hashable, Sendable {
  /// ifa_index: the interface it belongs to.
  public var interface: Int32
  /// IFA_LOCAL where there is one, else IFA_ADDRESS, which is the peer's on a point-to-point interface.
  public var address: IPAddress
  /// ifa_prefixlen in bits.
  public var prefixLength: UInt8
  /// ifa_scope: RT_SCOPE_UNIVERSE, RT_SCOPE_LINK, … .
  public var scope: UInt8
  /// IFA_FLAGS, or ifa_flags: IFA_F_TENTATIVE and others.
  public var flags: UInt32

  /// An address.
  public init(interface: Int32, address: IPAddress, prefixLength: UInt8, scope: UInt8 = 0, flags: UInt32 = 0) {
    self.interface = interface
    self.address = address
    self.prefixLength = prefixLength
    self.scope = scope
    self.flags = flags
  }

  /// Reads the message; nil for a family that is neither IPv4 nor IPv6.
  init?(_ header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    guard let body = bytes.body(ifaddrmsg.self, of: header) else {
      throw MalformedMessage(.body, messageType: header.type)
    }
    guard let family = IPAddress.Family(socketFamily: Int32(body.ifa_family)) else { return nil }
    var local: IPAddress?
    var other: IPAddress?
    var flags = UInt32(body.ifa_flags)
    var attributes = AttributeCursor(afterBodyOf: MemoryLayout<ifaddrmsg>.size, of: header)
    while let attribute = try attributes.next(in: bytes) {
      switch attribute.type {
      case IFA_LOCAL: local = try attributes.address(attribute, of: family, in: bytes)
      case IFA_ADDRESS: other = try attributes.address(attribute, of: family, in: bytes)
      case IFA_FLAGS: flags = try attributes.word(attribute, in: bytes)
      default: break
      }
    }
    guard let address = local ?? other else { throw MalformedMessage(.body, messageType: header.type) }
    self.init(
      interface: Int32(bitPattern: body.ifa_index), address: address, prefixLength: body.ifa_prefixlen,
      scope: body.ifa_scope, flags: flags)
  }
}
