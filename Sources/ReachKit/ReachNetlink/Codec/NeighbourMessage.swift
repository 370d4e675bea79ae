internal import CReachLinux
public import ReachCore

/// What is known of a neighbour: ndm_state, the bits of NUD_* (rtnetlink(7)).
public struct NeighbourState: OptionSet, Hashable, Sendable {
  /// The bits.
  public let rawValue: UInt16
  /// A set of those bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// NUD_INCOMPLETE: it has been asked and has not answered yet.
  public static let incomplete = NeighbourState(nud: NUD_INCOMPLETE)
  /// NUD_REACHABLE: it answered of late.
  public static let reachable = NeighbourState(nud: NUD_REACHABLE)
  /// NUD_STALE: it answered once; not checked since.
  public static let stale = NeighbourState(nud: NUD_STALE)
  /// NUD_DELAY: about to be checked.
  public static let delay = NeighbourState(nud: NUD_DELAY)
  /// NUD_PROBE: being checked.
  public static let probe = NeighbourState(nud: NUD_PROBE)
  /// NUD_FAILED: it does not answer.
  public static let failed = NeighbourState(nud: NUD_FAILED)
  /// NUD_NOARP: nothing needs to be asked.
  public static let noARP = NeighbourState(nud: NUD_NOARP)
  /// NUD_PERMANENT: set by an administrator.
  public static let permanent = NeighbourState(nud: NUD_PERMANENT)

  private init(nud: Int32) { self.init(rawValue: UInt16(truncatingIfNeeded: nud)) }
}

/// A neighbour: a decoded RTM_NEWNEIGH or RTM_DELNEIGH (rtnetlink(7)).
public struct NeighbourMessage: Hashable, Sendable {
  /// ndm_ifindex.
  public var interface: Int32
  /// NDA_DST.
  public var address: IPAddress
  /// ndm_state.
  public var state: NeighbourState
  /// NDA_LLADDR; empty while it is not known.
  public var hardwareAddress: [UInt8]

  /// A neighbour.
  public init(interface: Int32, address: IPAddress, state: NeighbourState, hardwareAddress: [UInt8] = []) {
    self.interface = interface
    self.address = address
    self.state = state
    self.hardwareAddress = hardwareAddress
  }

  /// Reads the message; nil for a family that is neither IPv4 nor IPv6, such as a bridge's table.
  init?(_ header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    guard let body = bytes.body(ndmsg.self, of: header) else {
      throw MalformedMessage(.body, messageType: header.type)
    }
    guard let family = IPAddress.Family(socketFamily: Int32(body.ndm_family)) else { return nil }
    var destination: IPAddress?
    var hardware: [UInt8] = []
    var attributes = AttributeCursor(afterBodyOf: MemoryLayout<ndmsg>.size, of: header)
    while let attribute = try attributes.next(in: bytes) {
      switch attribute.type {
      case Int(NDA_DST): destination = try attributes.address(attribute, of: family, in: bytes)
      case Int(NDA_LLADDR): hardware = bytes.octets(in: attribute.payload)
      default: break
      }
    }
    guard let destination else { throw MalformedMessage(.body, messageType: header.type) }
    self.init(
      interface: body.ndm_ifindex, address: destination, state: NeighbourState(rawValue: body.ndm_state),
      hardwareAddress: hardware)
  }
}
