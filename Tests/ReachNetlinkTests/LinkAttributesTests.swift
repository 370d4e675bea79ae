import CReachLinux
import ReachCore
import ReachNetlink
import ReachTestSupport
import Testing

@Suite struct LinkAttributesTests {
  /// struct ifinfomsg.
  private func body(family: UInt8 = 0, type: UInt16 = 1, index: Int32, flags: UInt32) -> [UInt8] {
    [family, 0]  // ifi_family, padding
      + u16(type)  // ifi_type
      + u32(UInt32(bitPattern: index))  // ifi_index
      + u32(flags)  // ifi_flags
      + u32(0)  // ifi_change
  }

  @Test("an interface is read field by field")
  func readsVLAN() {
    let bytes: [UInt8] =
      [
        164, 0, 0, 0,  // nlmsg_len
        16, 0,  // nlmsg_type: RTM_NEWLINK
        0, 0,  // nlmsg_flags
        0, 0, 0, 0,  // nlmsg_seq: an event
        0, 0, 0, 0,  // nlmsg_pid
        0,  // ifi_family: AF_UNSPEC
        0,  // padding
        1, 0,  // ifi_type: ARPHRD_ETHER
        7, 0, 0, 0,  // ifi_index
        3, 0, 1, 0,  // ifi_flags: IFF_UP | IFF_BROADCAST | IFF_LOWER_UP
        0xff, 0xff, 0xff, 0xff,  // ifi_change
        12, 0, 3, 0, 101, 116, 104, 48, 46, 53, 0, 0,  // IFLA_IFNAME: "eth0.5", NUL, padding
        5, 0, 16, 0, 6, 0, 0, 0,  // IFLA_OPERSTATE: IF_OPER_UP
        5, 0, 17, 0, 1, 0, 0, 0,  // IFLA_LINKMODE: IF_LINK_MODE_DORMANT
        8, 0, 4, 0, 220, 5, 0, 0,  // IFLA_MTU: 1500
        8, 0, 5, 0, 2, 0, 0, 0,  // IFLA_LINK
        8, 0, 10, 0, 9, 0, 0, 0,  // IFLA_MASTER
        5, 0, 33, 0, 1, 0, 0, 0,  // IFLA_CARRIER
        8, 0, 35, 0, 3, 0, 0, 0,  // IFLA_CARRIER_CHANGES
        10, 0, 1, 0, 2, 0, 0, 0, 0, 1, 0, 0,  // IFLA_ADDRESS: 02:00:00:00:00:01, padding
        24, 0, 18, 0,  // IFLA_LINKINFO
        9, 0, 1, 0, 118, 108, 97, 110, 0, 0, 0, 0,  // IFLA_INFO_KIND: "vlan", NUL, padding
      ] + [
        8, 0, 4, 0, 116, 101, 97, 109,  // IFLA_INFO_SLAVE_KIND: "team", without a NUL
        20, 0, 52, 128,  // IFLA_PROP_LIST | NLA_F_NESTED
        16, 0, 53, 0, 117, 112, 108, 105, 110, 107, 32, 226, 130, 172, 0, 0,  // IFLA_ALT_IFNAME: "uplink €", NUL
        8, 0, 13, 0, 232, 3, 0, 0,  // IFLA_TXQLEN, which nobody asks for
      ]
    var expected = LinkAttributes(index: 7, name: "eth0.5", flags: 0x10003, hardwareType: 1)
    expected.operState = .up
    expected.linkMode = 1
    expected.mtu = 1500
    expected.lowerIndex = 2
    expected.masterIndex = 9
    expected.hasCarrier = true
    expected.carrierChanges = 3
    expected.hardwareAddress = [2, 0, 0, 0, 0, 1]
    expected.kind = "vlan"
    expected.portKind = "team"
    expected.alternativeNames = ["uplink €"]
    #expect(bytes.count == 164)
    #expect(decodeOne(bytes) == .link(expected, isRemoval: false))
  }

  @Test("a tunnel's ends, device and mark are read by its kind, wherever the kind stands")
  func readsTunnel() {
    let data = attribute(
      IFLA_INFO_DATA,
      attribute(IFLA_IPTUN_LINK, u32(3)) + attribute(IFLA_IPTUN_LOCAL, [192, 0, 2, 1])
        + attribute(IFLA_IPTUN_REMOTE, [198, 51, 100, 2]) + attribute(IFLA_IPTUN_FWMARK, u32(0x10)))
    let info = attribute(IFLA_LINKINFO, data + attribute(IFLA_INFO_KIND, text("ipip")))
    let bytes = message(
      RTM_NEWLINK,
      body(type: UInt16(ARPHRD_TUNNEL), index: 5, flags: IFF_UP.rawValue) + attribute(IFLA_IFNAME, text("t0")) + info)
    guard case .link(let link, _) = decodeOne(bytes) else {
      Issue.record("not a link")
      return
    }
    #expect(
      link.tunnel
        == LinkAttributes.Tunnel(
          remote: "198.51.100.2", local: "192.0.2.1", outputInterface: 3, mark: 0x10))
  }

  @Test(
    "each family of tunnels keeps its far end in an attribute of its own",
    arguments: [
      ("sit", IFLA_IPTUN_REMOTE), ("ip6tnl", IFLA_IPTUN_REMOTE), ("gre", IFLA_GRE_REMOTE), ("ip6gre", IFLA_GRE_REMOTE),
      ("vti", IFLA_VTI_REMOTE), ("vti6", IFLA_VTI_REMOTE),
    ])
  func readsRemote(kind: String, type: Int) {
    let far: [UInt8] =
      kind.contains("6") ? [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2] : [198, 51, 100, 2]
    let info = attribute(
      IFLA_LINKINFO,
      attribute(IFLA_INFO_KIND, text(kind)) + attribute(IFLA_INFO_DATA, attribute(type, far)))
    guard case .link(let link, _) = decodeOne(message(RTM_NEWLINK, body(index: 5, flags: 1) + info)) else {
      Issue.record("not a link")
      return
    }
    #expect(link.tunnel?.remote == IPAddress(octets: far))
  }

  @Test("a tunnel without a fixed far end has none")
  func readsOpenTunnel() {
    let info = attribute(
      IFLA_LINKINFO,
      attribute(IFLA_INFO_KIND, text("sit"))
        + attribute(IFLA_INFO_DATA, attribute(IFLA_IPTUN_REMOTE, [0, 0, 0, 0])))
    guard case .link(let link, _) = decodeOne(message(RTM_NEWLINK, body(index: 5, flags: 1) + info)) else {
      Issue.record("not a link")
      return
    }
    #expect(link.tunnel == nil)
    #expect(link.kind == "sit")
  }

  @Test("a bond's active port is read")
  func readsActivePort() {
    let info = attribute(
      IFLA_LINKINFO,
      attribute(IFLA_INFO_KIND, text("bond"))
        + attribute(IFLA_INFO_DATA, attribute(IFLA_BOND_ACTIVE_SLAVE, u32(4))))
    guard case .link(let link, _) = decodeOne(message(RTM_NEWLINK, body(index: 5, flags: 1) + info)) else {
      Issue.record("not a link")
      return
    }
    #expect(link.activePort == 4)
  }

  @Test("a bridge's message about its port is none about the interface", arguments: [RTM_NEWLINK, RTM_DELLINK])
  func passesOverBridge(type: Int) {
    let bytes = message(
      type, body(family: UInt8(AF_BRIDGE), index: 3, flags: 1) + attribute(IFLA_IFNAME, text("veth0")))
    #expect(decodeOne(bytes) == .other)
  }

  @Test("an operating state that no header names counts as unknown")
  func readsNewOperState() {
    let bytes = message(RTM_NEWLINK, body(index: 3, flags: 1) + attribute(IFLA_OPERSTATE, [99]))
    guard case .link(let link, _) = decodeOne(bytes) else {
      Issue.record("not a link")
      return
    }
    #expect(link.operState == .unknown)
  }

  @Test("an index that no interface can have makes the message malformed", arguments: [0, -1, Int32.min])
  func refusesIndex(index: Int32) {
    let problem = MalformedMessage(.body, messageType: UInt16(RTM_NEWLINK))
    #expect(decode(message(RTM_NEWLINK, body(index: index, flags: 1))) == [.failure(problem)])
  }

  @Test(
    "an attribute shorter than its type makes the message malformed",
    arguments: [IFLA_MTU, IFLA_LINK, IFLA_MASTER, IFLA_CARRIER_CHANGES])
  func refusesShortAttribute(type: Int) {
    let problem = MalformedMessage(.attributeSize, messageType: UInt16(RTM_NEWLINK), attribute: UInt16(type))
    let bytes = message(RTM_NEWLINK, body(index: 1, flags: 1) + attribute(type, [1, 2, 3]))
    #expect(decode(bytes) == [.failure(problem)])
  }

  @Test("a name that is not UTF-8 is repaired, and one of nothing is empty")
  func repairsNames() {
    for (octets, name) in [([0xff, 65, 0], "\u{fffd}A"), ([], ""), ([0], "")] as [([UInt8], String)] {
      let bytes = message(RTM_NEWLINK, body(index: 1, flags: 1) + attribute(IFLA_IFNAME, octets))
      guard case .link(let link, _) = decodeOne(bytes) else {
        Issue.record("not a link")
        continue
      }
      #expect(link.name == name)
    }
  }
}
