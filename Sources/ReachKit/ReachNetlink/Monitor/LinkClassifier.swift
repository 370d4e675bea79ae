internal import CReachLinux
internal import Glibc
internal import ReachCore

/// Says what an interface is and whether it can be used. Pure: it sees the attributes alone.
struct LinkClassifier {
  /// All interfaces by index: an interface may be of the medium that another one is.
  let links: [Int32: LinkAttributes]
  /// Names, or globs of glob(7), of interfaces that are cellular whatever the kernel says.
  let wwanInterfaces: [String]

  /// How many interfaces may rest on one another before the last one speaks for itself.
  private static let depth = 8

  // MARK: State

  /// Whether and why not the interface can be used.
  ///
  /// IFF_RUNNING and IFF_DORMANT are not read: the first is off on a dormant link, the second is off there too.
  static func state(of link: LinkAttributes) -> LinkFinding.State {
    guard link.has(IFF_UP) else { return .down }
    switch link.operState {
    // A veth's peer is the other end of a cable rather than a layer below, though the kernel words it so when it finds
    // an interface of the peer's index in this namespace.
    case .lowerLayerDown: return link.kind == "veth" ? .noCarrier : .lowerLayerDown
    case .notPresent, .down, .testing: return .noCarrier
    case .dormant: return link.has(IFF_LOWER_UP) ? .dormant : .noCarrier
    case .unknown, .up: return link.has(IFF_LOWER_UP) ? .usable : .noCarrier
    }
  }

  // MARK: Medium

  /// The kind of network.
  func medium(of link: LinkAttributes) -> Medium { medium(of: link, depth: Self.depth) }

  private func medium(of link: LinkAttributes, depth: Int) -> Medium {
    if let own = ownMedium(of: link) { return own }
    guard depth > 0 else { return .wired }
    switch link.kind {
    case "vlan", "macvlan", "macvtap", "ipvlan", "ipvtap", "macsec":
      if !link.isLowerElsewhere, let lower = links[link.lowerIndex] { return medium(of: lower, depth: depth - 1) }
    case "bridge", "bond", "team", "vrf":
      if let port = deciding(portOf: link) { return medium(of: port, depth: depth - 1) }
    default: break
    }
    return Int32(link.hardwareType) == ARPHRD_ETHER ? .wired : .other
  }

  /// The medium that the interface's own attributes show; nil where they show none.
  private func ownMedium(of link: LinkAttributes) -> Medium? {
    if isDeclaredWWAN(link) { return .wwan }
    if link.kind == "wwan" || link.kind == "rmnet" || link.deviceType == .wwan { return .wwan }
    if link.has(IFF_LOOPBACK) { return .loopback }
    if link.kind == "ppp" || Int32(link.hardwareType) == ARPHRD_PPP { return .ppp }
    if isTunnel(link) { return .vpn }
    return link.deviceType == .wlan ? .wifi : nil
  }

  private func isDeclaredWWAN(_ link: LinkAttributes) -> Bool {
    wwanInterfaces.contains { pattern in
      ([link.name] + link.alternativeNames).contains { unsafe fnmatch(pattern, $0, 0) == 0 }
    }
  }

  private func isTunnel(_ link: LinkAttributes) -> Bool {
    switch link.kind {
    // A tap is of the same kind and carries Ethernet.
    case "tun": Int32(link.hardwareType) != ARPHRD_ETHER
    case "wireguard", "ipip", "sit", "gre", "ip6gre", "ip6tnl", "vti", "vti6", "xfrm": true
    default:
      [ARPHRD_TUNNEL, ARPHRD_TUNNEL6, ARPHRD_SIT, ARPHRD_IPGRE, ARPHRD_IP6GRE].contains(Int32(link.hardwareType))
    }
  }

  /// The port that speaks for a bridge, bond, team or VRF: the active one of a bond, else the usable one of the lowest
  /// index, else the one of the lowest index.
  private func deciding(portOf link: LinkAttributes) -> LinkAttributes? {
    if let active = links[link.activePort] { return active }
    let ports = links.values.filter { $0.masterIndex == link.index && $0.index != link.index }
    let usable = ports.filter { Self.state(of: $0) == .usable }
    return (usable.isEmpty ? ports : usable).min { $0.index < $1.index }
  }

  // MARK: Finding

  /// Everything the link probe says of the interface. `underlay` is what its tunnel runs over, where that is known.
  func finding(of link: LinkAttributes, underlay: LinkFinding.Underlay? = nil) -> LinkFinding {
    let medium = medium(of: link)
    let isPointToPoint = link.has(IFF_POINTOPOINT)
    let isTransient =
      isPointToPoint || medium == .ppp || medium == .vpn || medium == .wwan
      || Int32(link.hardwareType) == ARPHRD_RAWIP
    return LinkFinding(
      interface: link.name, index: link.index, medium: medium, state: Self.state(of: link),
      isPointToPoint: isPointToPoint, isTransient: isTransient, underlay: underlay)
  }
}

extension LinkAttributes {
  /// Whether a flag of ifi_flags is set.
  func has(_ flag: net_device_flags) -> Bool { flags & flag.rawValue != 0 }

  /// IFF_UP: set up by an administrator, whatever its carrier.
  public var isAdministrativelyUp: Bool { has(IFF_UP) }

  /// Whether packets can leave by it now: set up, with a carrier, operating.
  public var isUsable: Bool { LinkClassifier.state(of: self) == .usable }
}
