import CReachLinux
import ReachCore
import ReachNetlink
import ReachTestSupport
import Testing

@Suite struct RouteMessageTests {
  @Test("an IPv4 route through a gateway is read field by field")
  func readsGatewayRoute() throws {
    let bytes: [UInt8] = [
      68, 0, 0, 0,  // nlmsg_len
      24, 0,  // nlmsg_type: RTM_NEWROUTE
      0, 0,  // nlmsg_flags
      42, 0, 0, 0,  // nlmsg_seq
      57, 48, 0, 0,  // nlmsg_pid: 12345
      2,  // rtm_family: AF_INET
      32,  // rtm_dst_len
      0,  // rtm_src_len
      0,  // rtm_tos
      254,  // rtm_table: RT_TABLE_MAIN
      16,  // rtm_protocol: RTPROT_DHCP
      0,  // rtm_scope: RT_SCOPE_UNIVERSE
      1,  // rtm_type: RTN_UNICAST
      0, 2, 0, 0,  // rtm_flags: RTM_F_CLONED
      8, 0, 1, 0, 198, 51, 100, 2,  // RTA_DST
      8, 0, 4, 0, 3, 0, 0, 0,  // RTA_OIF
      8, 0, 5, 0, 192, 0, 2, 254,  // RTA_GATEWAY
      8, 0, 7, 0, 192, 0, 2, 1,  // RTA_PREFSRC
      8, 0, 15, 0, 144, 1, 0, 0,  // RTA_TABLE: 400, which does not fit rtm_table
    ]
    var expected = RouteMessage(
      family: .ipv4, type: UInt8(RTN_UNICAST), prefixLength: 32, flags: UInt32(RTM_F_CLONED), table: 400,
      destination: "198.51.100.2", outputInterface: 3, gateway: "192.0.2.254", preferredSource: "192.0.2.1")
    expected.protocolNumber = 16
    #expect(decodeOne(bytes) == .route(expected, isRemoval: false))
  }

  @Test("the legs of a multipath route are read, with weights, a gateway of the other family, and the dead one marked")
  func readsLegs() throws {
    let legs: [UInt8] =
      [
        16, 0,  // rtnh_len
        0,  // rtnh_flags
        0,  // rtnh_hops: weight 1
        2, 0, 0, 0,  // rtnh_ifindex
        8, 0, 5, 0, 192, 0, 2, 254,  // RTA_GATEWAY
      ] + [
        32, 0,  // rtnh_len
        17,  // rtnh_flags: RTNH_F_DEAD | RTNH_F_LINKDOWN
        9,  // rtnh_hops: weight 10
        3, 0, 0, 0,  // rtnh_ifindex
        22, 0, 18, 0,  // RTA_VIA
        10, 0,  // rtvia_family: AF_INET6
        0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1,  // rtvia_addr
        0, 0,  // padding
      ]
    let bytes = message(
      RTM_NEWROUTE,
      [
        2, 0, 0, 0, 254, 3, 0, 1,  // family, dst_len, src_len, tos, table, protocol, scope, type
        0, 0, 0, 0,  // rtm_flags
      ]
        + attribute(Int(RTA_PRIORITY.rawValue), u32(100))
        + attribute(Int(RTA_NH_ID.rawValue), u32(77))
        + attribute(Int(RTA_MULTIPATH.rawValue), legs))
    guard case .route(let route, isRemoval: false) = decodeOne(bytes) else {
      Issue.record("not a route")
      return
    }
    #expect(
      route.legs == [
        RouteFinding.Leg(interfaceIndex: 2, gateway: "192.0.2.254", weight: 1),
        RouteFinding.Leg(interfaceIndex: 3, gateway: "fe80::1", weight: 10, isDead: true),
      ])
    #expect(route.priority == 100)
    #expect(route.nexthopID == 77)
    #expect(route.outputInterface == 0)
    #expect(route.destination == nil)
  }

  @Test("RTA_VIA names a gateway of another family than the route's")
  func readsVia() {
    let bytes = message(
      RTM_DELROUTE,
      [2, 24, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0]
        + attribute(
          Int(RTA_VIA.rawValue), u16(UInt16(AF_INET6)) + [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9]))
    guard case .route(let route, isRemoval: true) = decodeOne(bytes) else {
      Issue.record("not a removal")
      return
    }
    #expect(route.gateway == "2001:db8::9")
    #expect(route.prefixLength == 24)
  }

  @Test("an attribute of length 0 ends the attributes")
  func endsAtZero() {
    let bytes = message(
      RTM_NEWROUTE,
      [2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0] + attribute(Int(RTA_OIF.rawValue), u32(5)) + [0, 0, 4, 0, 9, 9, 9, 9])
    guard case .route(let route, _) = decodeOne(bytes) else {
      Issue.record("not a route")
      return
    }
    #expect(route.outputInterface == 5)
  }

  @Test("an attribute that goes past the message makes it malformed")
  func refusesOverrun() {
    let bytes = message(RTM_NEWROUTE, [2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0] + [12, 0, 4, 0, 9, 9, 9, 9])
    #expect(
      decode(bytes) == [
        .failure(MalformedMessage(.attributeLength, messageType: UInt16(RTM_NEWROUTE), attribute: 4))
      ])
  }

  @Test(
    "an address of the wrong length makes the message malformed",
    arguments: [RTA_DST, RTA_GATEWAY, RTA_PREFSRC].map { Int($0.rawValue) })
  func refusesAddressLength(type: Int) {
    let bytes = message(
      RTM_NEWROUTE, [2, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0] + attribute(type, [UInt8](repeating: 1, count: 16)))
    #expect(
      decode(bytes) == [
        .failure(MalformedMessage(.attributeSize, messageType: UInt16(RTM_NEWROUTE), attribute: UInt16(type)))
      ])
  }

  @Test("a family that is not IP is passed over")
  func passesOverFamilies() {
    #expect(decodeOne(message(RTM_NEWROUTE, [28, 0, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0])) == .other)
  }

  @Test("a message that ends inside its fixed part is malformed")
  func refusesShortBody() {
    #expect(
      decode(message(RTM_NEWROUTE, [2, 0, 0])) == [
        .failure(MalformedMessage(.body, messageType: UInt16(RTM_NEWROUTE)))
      ])
  }
}
