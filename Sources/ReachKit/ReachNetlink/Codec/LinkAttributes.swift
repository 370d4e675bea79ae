public import ReachCore

/// One interface as RTM_NEWLINK describes it (rtnetlink(7), `linux/if_link.h`).
public struct LinkAttributes: Hashable, Sendable {
  /// Where a tunnel's own packets go.
  public struct Tunnel: Hashable, Sendable {
    /// The far end.
    public var remote: IPAddress
    /// The near end, where it is fixed.
    public var local: IPAddress?
    /// The interface its packets are bound to; 0 for none.
    public var outputInterface: Int32 = 0
    /// The mark its packets carry; 0 for none.
    public var mark: UInt32 = 0

    /// A tunnel to that far end.
    public init(remote: IPAddress, local: IPAddress? = nil, outputInterface: Int32 = 0, mark: UInt32 = 0) {
      self.remote = remote
      self.local = local
      self.outputInterface = outputInterface
      self.mark = mark
    }
  }

  /// ifi_index: never given again while the namespace lives, above 0.
  public var index: Int32
  /// IFLA_IFNAME. It may change.
  public var name: String
  /// IFLA_ALT_IFNAME: further names.
  public var alternativeNames: [String] = []
  /// ifi_flags: IFF_UP and others (netdevice(7)).
  public var flags: UInt32
  /// ifi_type: ARPHRD_ETHER and others.
  public var hardwareType: UInt16
  /// IFLA_ADDRESS: the hardware's address, mostly of six octets.
  public var hardwareAddress: [UInt8] = []
  /// IFLA_OPERSTATE. Read rather than IFF_RUNNING or IFF_DORMANT, which do not tell dormant from up.
  public var operState: OperState = .unknown
  /// IFLA_LINKMODE: whether a supplicant decides when the link is up.
  public var linkMode: UInt8 = 0
  /// IFLA_CARRIER; nil where the message does not say.
  public var hasCarrier: Bool?
  /// IFLA_CARRIER_CHANGES: how often the carrier has come or gone.
  public var carrierChanges: UInt32 = 0
  /// IFLA_MTU in octets.
  public var mtu: UInt32 = 0
  /// IFLA_INFO_KIND, such as `veth` or `vlan`; empty for most hardware.
  public var kind: String = ""
  /// IFLA_INFO_SLAVE_KIND: what it is a port of, such as `bond`; empty for nothing.
  public var portKind: String = ""
  /// IFLA_LINK: the interface it rests on, or the other end of a veth pair; 0 for none.
  public var lowerIndex: Int32 = 0
  /// IFLA_LINK_NETNSID: whether that interface belongs to another namespace, where its index means another one.
  public var isLowerElsewhere = false
  /// IFLA_MASTER: the bridge, bond or VRF it is a port of; 0 for none.
  public var masterIndex: Int32 = 0
  /// IFLA_BOND_ACTIVE_SLAVE: the port that a bond uses now; 0 for none or several.
  public var activePort: Int32 = 0
  /// Where a tunnel of kind ipip, sit, ip6tnl, gre, ip6gre, vti or vti6 leads, when its far end is fixed.
  public var tunnel: Tunnel?
  /// What a `LinkMonitor` takes it for; `other` as it comes from the wire.
  public var medium: Medium = .other
  /// What sysfs says it is.
  var deviceType: DeviceType = .unspecified

  /// An interface of which only this is known.
  public init(index: Int32, name: String, flags: UInt32 = 0, hardwareType: UInt16 = 0) {
    self.index = index
    self.name = name
    self.flags = flags
    self.hardwareType = hardwareType
  }
}

/// DEVTYPE of an interface in sysfs, as far as it matters here.
enum DeviceType: Hashable, Sendable {
  case unspecified
  case wlan
  case wwan
}
