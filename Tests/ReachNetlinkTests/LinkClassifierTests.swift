import CReachLinux
import ReachCore
import ReachTestSupport
import Testing

@testable import ReachNetlink

@Suite struct LinkClassifierTests {
  private static let up = IFF_UP.rawValue | IFF_LOWER_UP.rawValue

  private func link(
    _ index: Int32 = 2, _ name: String = "x0", type: Int32 = ARPHRD_ETHER, flags: UInt32 = up, kind: String = "",
    device: DeviceType = .unspecified, lower: Int32 = 0, master: Int32 = 0, state: OperState = .up
  ) -> LinkAttributes {
    var link = LinkAttributes(index: index, name: name, flags: flags, hardwareType: UInt16(type))
    link.kind = kind
    link.deviceType = device
    link.lowerIndex = lower
    link.masterIndex = master
    link.operState = state
    return link
  }

  private func medium(_ links: LinkAttributes..., wwan: [String] = []) -> Medium {
    let table = Dictionary(links.map { ($0.index, $0) }, uniquingKeysWith: { first, _ in first })
    return LinkClassifier(links: table, wwanInterfaces: wwan).medium(of: links[0])
  }

  // MARK: State

  @Test(
    "the state follows IFF_UP, IFF_LOWER_UP and the operating state",
    arguments: [
      (true, true, OperState.up, LinkFinding.State.usable), (true, true, .unknown, .usable),
      (true, true, .dormant, .dormant), (true, true, .down, .noCarrier), (true, true, .testing, .noCarrier),
      (true, true, .notPresent, .noCarrier), (true, true, .lowerLayerDown, .lowerLayerDown),
      (true, false, .up, .noCarrier), (true, false, .unknown, .noCarrier), (true, false, .dormant, .noCarrier),
      (true, false, .down, .noCarrier), (true, false, .lowerLayerDown, .lowerLayerDown),
      (false, false, .down, .down), (false, true, .up, .down), (false, false, .lowerLayerDown, .down),
    ])
  func judgesState(isUp: Bool, hasLower: Bool, operState: OperState, expected: LinkFinding.State) {
    let flags = (isUp ? IFF_UP.rawValue : 0) | (hasLower ? IFF_LOWER_UP.rawValue : 0)
    let link = link(flags: flags, state: operState)
    #expect(LinkClassifier.state(of: link) == expected)
    #expect(link.isUsable == (expected == .usable))
    #expect(link.isAdministrativelyUp == isUp)
  }

  @Test("IFF_RUNNING and IFF_DORMANT change nothing")
  func ignoresRunning() {
    for extra in [IFF_RUNNING.rawValue, IFF_DORMANT.rawValue] {
      #expect(LinkClassifier.state(of: link(flags: Self.up | extra)) == .usable)
      #expect(LinkClassifier.state(of: link(flags: Self.up | extra, state: .dormant)) == .dormant)
    }
  }

  @Test("a veth whose peer is down has lost its carrier, however the kernel words it")
  func judgesVeth() {
    let veth = link(flags: IFF_UP.rawValue, kind: "veth", lower: 3, state: .lowerLayerDown)
    #expect(LinkClassifier.state(of: veth) == .noCarrier)
  }

  // MARK: Medium

  @Test(
    "kinds of tunnels are vpn, but a tap and Ethernet over GRE carry Ethernet",
    arguments: ["wireguard", "ipip", "sit", "gre", "ip6gre", "ip6tnl", "vti", "vti6", "xfrm", "tun"])
  func judgesTunnels(kind: String) {
    #expect(medium(link(type: ARPHRD_NONE, kind: kind)) == .vpn)
  }

  @Test("Ethernet in a tunnel's clothes is wired", arguments: ["tun", "gretap", "ip6gretap", "vxlan", "veth", "dummy"])
  func judgesTaps(kind: String) {
    #expect(medium(link(type: ARPHRD_ETHER, kind: kind)) == .wired)
  }

  @Test(
    "hardware types of tunnels are vpn",
    arguments: [ARPHRD_TUNNEL, ARPHRD_TUNNEL6, ARPHRD_SIT, ARPHRD_IPGRE, ARPHRD_IP6GRE])
  func judgesTunnelTypes(type: Int32) { #expect(medium(link(type: type)) == .vpn) }

  @Test("ARPHRD_NONE alone shows nothing, nor does a type nobody knows")
  func judgesUnknownTypes() {
    #expect(medium(link(type: ARPHRD_NONE)) == .other)
    #expect(medium(link(type: 0x1234)) == .other)
  }

  @Test("loopback and PPP are what they are")
  func judgesSpecial() {
    #expect(medium(link(1, "lo", type: ARPHRD_LOOPBACK, flags: Self.up | IFF_LOOPBACK.rawValue)) == .loopback)
    #expect(medium(link(type: ARPHRD_PPP, kind: "ppp")) == .ppp)
    #expect(medium(link(type: ARPHRD_PPP)) == .ppp)
  }

  @Test("cellular is told by kind, by sysfs or by the configuration's globs, before anything else")
  func judgesWWAN() {
    #expect(medium(link(type: ARPHRD_NONE, kind: "wwan")) == .wwan)
    #expect(medium(link(type: ARPHRD_RAWIP, kind: "rmnet")) == .wwan)
    #expect(medium(link(device: .wwan)) == .wwan)
    #expect(medium(link(2, "ppp0", type: ARPHRD_PPP, kind: "ppp"), wwan: ["eth9", "ppp*"]) == .wwan)
    #expect(medium(link(2, "enx001"), wwan: ["enx[0-9]*"]) == .wwan)
    #expect(medium(link(2, "eth1"), wwan: ["eth", "eth[", ""]) == .wired)
  }

  @Test("802.11 is told by sysfs alone")
  func judgesWiFi() { #expect(medium(link(device: .wlan)) == .wifi) }

  @Test("a VLAN or macvlan is of the medium of the interface it rests on", arguments: ["vlan", "macvlan", "ipvlan"])
  func inheritsFromLower(kind: String) {
    let radio = link(3, "wlan0", device: .wlan)
    #expect(medium(link(kind: kind, lower: 3), radio) == .wifi)
    #expect(medium(link(kind: kind, lower: 4), radio) == .wired)
    var elsewhere = link(kind: kind, lower: 3)
    elsewhere.isLowerElsewhere = true
    #expect(medium(elsewhere, radio) == .wired)
    // The other end of a cable is nothing to inherit from.
    #expect(medium(link(kind: "veth", lower: 3), radio) == .wired)
  }

  @Test(
    "a bridge, bond, team or VRF is of the medium of its first usable port",
    arguments: ["bridge", "bond", "team", "vrf"])
  func inheritsFromPorts(kind: String) {
    let master = link(9, "m0", kind: kind)
    let cable = link(3, "eth0", flags: IFF_UP.rawValue, master: 9, state: .down)
    let radio = link(4, "wlan0", device: .wlan, master: 9)
    #expect(medium(master) == .wired)
    #expect(medium(master, cable, radio) == .wifi)
    #expect(medium(master, cable) == .wired)
  }

  @Test("a bond is of the medium of the port it uses now")
  func inheritsFromActivePort() {
    var bond = link(9, "bond0", kind: "bond")
    let cable = link(3, "eth0", master: 9)
    let modem = link(4, "wwan0", kind: "wwan", master: 9)
    #expect(medium(bond, cable, modem) == .wired)
    bond.activePort = 4
    #expect(medium(bond, cable, modem) == .wwan)
  }

  @Test("interfaces that rest on one another in a ring come to an end")
  func endsRings() {
    #expect(medium(link(2, "a0", kind: "vlan", lower: 3), link(3, "b0", kind: "vlan", lower: 2)) == .wired)
    #expect(medium(link(2, "a0", kind: "bridge", master: 2)) == .wired)
    #expect(medium(link(2, "a0", kind: "vlan", lower: 2)) == .wired)
  }

  // MARK: Finding

  @Test("a path is transient over point-to-point, PPP, tunnels, cellular and raw IP, and not over a tap")
  func judgesTransience() {
    let classifier = LinkClassifier(links: [:], wwanInterfaces: [])
    let transient = [
      link(flags: Self.up | IFF_POINTOPOINT.rawValue), link(type: ARPHRD_PPP), link(type: ARPHRD_TUNNEL),
      link(kind: "wwan"), link(type: ARPHRD_RAWIP), link(type: ARPHRD_NONE, kind: "wireguard"),
    ]
    for link in transient { #expect(classifier.finding(of: link).isTransient, "\(link)") }
    let lasting = [link(), link(kind: "tun"), link(device: .wlan), link(type: ARPHRD_NONE)]
    for link in lasting { #expect(!classifier.finding(of: link).isTransient, "\(link)") }
    #expect(classifier.finding(of: transient[0]).isPointToPoint)
  }
}
