import CReachLinux
import ReachCore
import ReachNetlink
import ReachTestSupport
import Testing

@Suite struct NetlinkMessageTests {
  @Test("a new IPv4 address is that of this end of the link, not the peer's")
  func readsAddress() {
    let bytes = message(
      RTM_NEWADDR,
      [
        2,  // ifa_family: AF_INET
        32,  // ifa_prefixlen
        128,  // ifa_flags: IFA_F_PERMANENT
        253,  // ifa_scope: RT_SCOPE_LINK
        4, 0, 0, 0,  // ifa_index
        8, 0, 1, 0, 192, 0, 2, 9,  // IFA_ADDRESS: the peer
        8, 0, 2, 0, 192, 0, 2, 1,  // IFA_LOCAL
        8, 0, 8, 0, 128, 2, 0, 0,  // IFA_FLAGS: IFA_F_PERMANENT | IFA_F_NOPREFIXROUTE
      ])
    let expected = AddressMessage(interface: 4, address: "192.0.2.1", prefixLength: 32, scope: 253, flags: 0x280)
    #expect(decodeOne(bytes) == .address(expected, isRemoval: false))
  }

  @Test("an IPv6 address that goes is read from IFA_ADDRESS")
  func readsRemovedAddress() {
    let bytes = message(
      RTM_DELADDR,
      [10, 64, 0, 0, 4, 0, 0, 0]  // family, prefixlen, flags, scope, index
        + attribute(IFA_ADDRESS, [0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]))
    let expected = AddressMessage(interface: 4, address: "2001:db8::1", prefixLength: 64)
    #expect(decodeOne(bytes) == .address(expected, isRemoval: true))
  }

  @Test("a neighbour that does not answer is read as failed")
  func readsNeighbour() {
    let bytes = message(
      RTM_NEWNEIGH,
      [
        2,  // ndm_family: AF_INET
        0, 0, 0,  // padding
        3, 0, 0, 0,  // ndm_ifindex
        32, 0,  // ndm_state: NUD_FAILED
        0,  // ndm_flags
        1,  // ndm_type: RTN_UNICAST
        8, 0, 1, 0, 192, 0, 2, 99,  // NDA_DST
      ])
    let expected = NeighbourMessage(interface: 3, address: "192.0.2.99", state: .failed)
    #expect(decodeOne(bytes) == .neighbour(expected, isRemoval: false))
  }

  @Test("an error carries its errno and the kernel's words, behind the echo of the request")
  func readsError() {
    let bytes = message(
      Int(NLMSG_ERROR), flags: UInt16(NLM_F_ACK_TLVS),
      [
        0xea, 0xff, 0xff, 0xff,  // error: -EINVAL
        20, 0, 0, 0, 26, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0,  // the request's header: 20 octets long
        2, 0, 0, 0,  // the request's payload
      ] + attribute(Int(NLMSGERR_ATTR_OFFS.rawValue), u32(4))
        + attribute(Int(NLMSGERR_ATTR_MSG.rawValue), text("Invalid header")))
    let expected = NetlinkAck(code: FaultCode(errno: 22), text: "Invalid header")
    #expect(decodeOne(bytes) == .acknowledgement(expected))
  }

  @Test("a capped error has its words right behind the request's header")
  func readsCappedError() {
    let bytes = message(
      Int(NLMSG_ERROR), flags: UInt16(NLM_F_ACK_TLVS | NLM_F_CAPPED),
      [0x9b, 0xff, 0xff, 0xff]  // -ENETUNREACH
        + [20, 0, 0, 0, 26, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0]
        + attribute(Int(NLMSGERR_ATTR_MSG.rawValue), text("no")))
    let expected = NetlinkAck(code: FaultCode(errno: 101), text: "no")
    #expect(decodeOne(bytes) == .acknowledgement(expected))
  }

  @Test("no errno is taken for success, and no number of it traps", arguments: [0, Int32.min, 5, -4095])
  func readsAnyErrno(error: Int32) {
    let bytes = message(
      Int(NLMSG_ERROR), u32(UInt32(bitPattern: error)) + [16, 0, 0, 0, 26, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0])
    guard case .acknowledgement(let ack) = decodeOne(bytes) else {
      Issue.record("not an acknowledgement")
      return
    }
    #expect((ack.code == nil) == (error == 0))
  }

  @Test("the end of a dump carries its errno, where it has one")
  func readsDone() {
    #expect(decodeOne(message(Int(NLMSG_DONE), u32(0))) == .done(NetlinkAck(code: nil)))
    #expect(decodeOne(message(Int(NLMSG_DONE), [])) == .done(NetlinkAck(code: nil)))
    let failed = NetlinkAck(code: FaultCode(errno: 105))
    #expect(decodeOne(message(Int(NLMSG_DONE), u32(UInt32(bitPattern: -105)))) == .done(failed))
  }

  @Test("a header tells whether a dump was interrupted")
  func tellsInterruption() throws {
    let bytes = message(RTM_NEWLINK, flags: UInt16(NLM_F_MULTI | NLM_F_DUMP_INTR), [])
    var cursor = MessageCursor()
    let header = try #require(try cursor.next(in: unsafe bytes.span.bytes))
    #expect(header.isInterrupted)
    #expect(header.sequence == 1)
    #expect(header.port == 7)
  }

  @Test("messages follow one another at multiples of four, and a bad one does not spoil the next")
  func stepsThroughMessages() {
    let bytes =
      message(RTM_NEWADDR, [1, 2, 3]) + [0]  // 19 octets and padding
      + message(Int(NLMSG_DONE), u32(0))
    #expect(
      decode(bytes) == [
        .failure(MalformedMessage(.body, messageType: UInt16(RTM_NEWADDR))), .success(.done(NetlinkAck(code: nil))),
      ])
  }

  @Test("a length that cannot be ends the datagram", arguments: [0, 15, 17, 21, UInt32.max])
  func refusesLength(length: UInt32) {
    let bytes = u32(length) + u16(3) + u16(0) + u32(1) + u32(0)  // the datagram is of 16 octets
    #expect(decode(bytes) == [.failure(MalformedMessage(.messageLength, messageType: 3))])
    #expect(decode(Array(bytes.prefix(15))) == [.failure(MalformedMessage(.messageLength))])
  }

  @Test("types are named as headers name them")
  func namesTypes() {
    #expect(MessageType.name(UInt16(RTM_NEWLINK)) == "RTM_NEWLINK")
    #expect(MessageType.name(UInt16(RTM_DELNEXTHOP)) == "RTM_DELNEXTHOP")
    #expect(MessageType.name(9999) == "other")
  }
}
