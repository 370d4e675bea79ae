/// What the kernel would do with a packet for one address: the answer to RTM_GETROUTE (rtnetlink(7)).
public struct RouteFinding: Hashable, Sendable {
  /// The kernel's decision.
  public enum Decision: Hashable, Sendable {
    /// It would send the packet out of an interface.
    case unicast
    /// The address is this host's own.
    case local
    /// It would not send, for this reason of the route layer.
    case refused(Reason)
    /// The lookup itself failed: nothing is known.
    case fault(FaultCode)
  }

  /// One next hop of several (RTA_MULTIPATH).
  public struct Leg: Hashable, Sendable {
    /// The egress interface's index.
    public var interfaceIndex: Int32
    /// The gateway, or nil when the leg is on-link.
    public var gateway: IPAddress?
    /// The leg's share, 1 or more.
    public var weight: Int
    /// RTNH_F_DEAD: the kernel does not choose it, since its interface is down, or has no carrier while
    /// `ignore_routes_with_linkdown` is set.
    public var isDead: Bool
    /// A leg.
    public init(interfaceIndex: Int32, gateway: IPAddress?, weight: Int, isDead: Bool = false) {
      self.interfaceIndex = interfaceIndex
      self.gateway = gateway
      self.weight = weight
      self.isDead = isDead
    }
  }

  /// The decision.
  public var decision: Decision
  /// The egress interface's index; 0 when there is none.
  public var interfaceIndex: Int32
  /// The egress interface's name; empty when there is none.
  public var interface: String
  /// The gateway, or nil when the destination is on-link.
  public var gateway: IPAddress?
  /// The source address the kernel would choose, when it says so.
  public var source: IPAddress?
  /// Whether no gateway stands between: none on the route, or on any leg.
  public var isOnLink: Bool
  /// All next hops, when there are several.
  public var legs: [Leg]
  /// The routing table that answered, when it is known.
  public var table: UInt32?
  /// Whether the next hop's neighbour entry stands at NUD_FAILED.
  public var isNeighbourFailed: Bool

  /// A finding.
  public init(
    _ decision: Decision, interfaceIndex: Int32 = 0, interface: String = "", gateway: IPAddress? = nil,
    source: IPAddress? = nil, isOnLink: Bool = false, legs: [Leg] = [], table: UInt32? = nil,
    isNeighbourFailed: Bool = false
  ) {
    self.decision = decision
    self.interfaceIndex = interfaceIndex
    self.interface = interface
    self.gateway = gateway
    self.source = source
    self.isOnLink = isOnLink
    self.legs = legs
    self.table = table
    self.isNeighbourFailed = isNeighbourFailed
  }

  /// Whether a packet would leave or arrive here.
  public var isRoutable: Bool { decision == .unicast || decision == .local }
}
