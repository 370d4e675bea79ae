/// What kind of network an interface is.
public enum Medium: String, Hashable, Sendable, CaseIterable {
  /// Ethernet that is none of the others, veth included.
  case wired
  /// IEEE 802.11.
  case wifi
  /// Cellular.
  case wwan
  /// A tunnel.
  case vpn
  /// PPP.
  case ppp
  /// The loopback interface.
  case loopback
  /// Anything else.
  case other
}

/// The kernel's word for how an interface operates (RFC 2863, Documentation/networking/operstates.rst).
public enum OperState: UInt8, Hashable, Sendable, CaseIterable {
  /// IF_OPER_UNKNOWN: the driver does not say; usable when the carrier is there.
  case unknown = 0
  /// IF_OPER_NOTPRESENT.
  case notPresent = 1
  /// IF_OPER_DOWN.
  case down = 2
  /// IF_OPER_LOWERLAYERDOWN.
  case lowerLayerDown = 3
  /// IF_OPER_TESTING.
  case testing = 4
  /// IF_OPER_DORMANT.
  case dormant = 5
  /// IF_OPER_UP.
  case up = 6

  /// The word as metrics spell it, such as `lowerlayerdown`.
  public var word: String {
    switch self {
    case .unknown: "unknown"
    case .notPresent: "notpresent"
    case .down: "down"
    case .lowerLayerDown: "lowerlayerdown"
    case .testing: "testing"
    case .dormant: "dormant"
    case .up: "up"
    }
  }
}

/// What the link probe saw of one interface.
public struct LinkFinding: Hashable, Sendable {
  /// The state that decides.
  public enum State: Hashable, Sendable {
    /// Administratively up, carrier there, operating.
    case usable
    /// Set down by an administrator.
    case down
    /// Up without carrier.
    case noCarrier
    /// An interface it rests on is down.
    case lowerLayerDown
    /// Waiting for an event, such as authentication.
    case dormant
    /// No such interface.
    case missing
  }

  /// The path that a tunnel itself takes.
  public enum Underlay: Hashable, Sendable {
    /// Usable, not cellular.
    case usable
    /// Usable, cellular.
    case cellular
    /// Not usable.
    case down
  }

  /// The interface's name.
  public var interface: String
  /// Its index (netdevice(7)); 0 when it is missing.
  public var index: Int32
  /// Its kind of network.
  public var medium: Medium
  /// Whether and why not it can be used.
  public var state: State
  /// IFF_POINTOPOINT.
  public var isPointToPoint: Bool
  /// Whether the path over it is transient: point to point, PPP, a tunnel, cellular.
  public var isTransient: Bool
  /// The path under a tunnel, where that is known.
  public var underlay: Underlay?

  /// A finding; the flags follow from the medium where they are left out.
  public init(
    interface: String, index: Int32, medium: Medium, state: State, isPointToPoint: Bool = false,
    isTransient: Bool? = nil, underlay: Underlay? = nil
  ) {
    self.interface = interface
    self.index = index
    self.medium = medium
    self.state = state
    self.isPointToPoint = isPointToPoint
    self.isTransient =
      isTransient ?? (isPointToPoint || medium == .ppp || medium == .vpn || medium == .wwan)
    self.underlay = underlay
  }

  /// The reason when this is what decided.
  public var reason: Reason {
    switch state {
    case .usable: .interfaceUp
    case .down: .linkDown
    case .noCarrier: .carrierLost
    case .lowerLayerDown: .linkLowerDown
    case .dormant: .linkDormant
    case .missing: .interfaceMissing
    }
  }
}
