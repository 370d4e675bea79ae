import CReachLinux
import ReachCore
import ReachNetlink
import ReachTestSupport
import Testing

@Suite struct NetlinkRequestTests {
  private func encoded(_ request: NetlinkRequest, sequence: UInt32 = 5) -> [UInt8] {
    var buffer: [UInt8] = [1, 2, 3]
    request.encode(into: &buffer, sequence: sequence)
    return buffer
  }

  @Test("an IPv4 route query is written field by field")
  func writesIPv4Route() {
    let query = RouteQuery(
      destination: "198.51.100.2", source: "192.0.2.1", outputInterface: 3, mark: 0x10, isFIBMatch: true)
    #expect(
      encoded(.route(query)) == [
        60, 0, 0, 0,  // nlmsg_len
        26, 0,  // nlmsg_type: RTM_GETROUTE
        1, 0,  // nlmsg_flags: NLM_F_REQUEST
        5, 0, 0, 0,  // nlmsg_seq
        0, 0, 0, 0,  // nlmsg_pid
        2,  // rtm_family: AF_INET
        32,  // rtm_dst_len
        32,  // rtm_src_len
        0, 0, 0, 0, 0,  // rtm_tos, rtm_table, rtm_protocol, rtm_scope, rtm_type
        0, 0x30, 0, 0,  // rtm_flags: RTM_F_LOOKUP_TABLE | RTM_F_FIB_MATCH
        8, 0, 1, 0, 198, 51, 100, 2,  // RTA_DST
        8, 0, 2, 0, 192, 0, 2, 1,  // RTA_SRC
        8, 0, 4, 0, 3, 0, 0, 0,  // RTA_OIF
        8, 0, 16, 0, 16, 0, 0, 0,  // RTA_MARK
      ])
  }

  @Test("an IPv6 route query leaves out what was not asked for, and the flag that IPv6 does not take")
  func writesIPv6Route() {
    #expect(
      encoded(.route(RouteQuery(destination: "2001:db8::2", source: "192.0.2.1"))) == [
        48, 0, 0, 0, 26, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0,  // the header
        10,  // rtm_family: AF_INET6
        128,  // rtm_dst_len
        0,  // rtm_src_len: the source is of the other family
        0, 0, 0, 0, 0,  // rtm_tos, rtm_table, rtm_protocol, rtm_scope, rtm_type
        0, 0, 0, 0,  // rtm_flags
        20, 0, 1, 0, 0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2,  // RTA_DST
      ])
  }

  @Test("a dump of interfaces asks for no statistics")
  func writesLinkDump() {
    #expect(
      encoded(.links) == [
        40, 0, 0, 0,  // nlmsg_len
        18, 0,  // nlmsg_type: RTM_GETLINK
        1, 3,  // nlmsg_flags: NLM_F_REQUEST | NLM_F_DUMP
        5, 0, 0, 0, 0, 0, 0, 0,  // nlmsg_seq, nlmsg_pid
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,  // struct ifinfomsg
        8, 0, 29, 0, 8, 0, 0, 0,  // IFLA_EXT_MASK: RTEXT_FILTER_SKIP_STATS
      ])
  }

  @Test("a query for one neighbour names the interface and the address")
  func writesNeighbour() {
    #expect(
      encoded(.neighbour(interface: 3, address: "192.0.2.99")) == [
        36, 0, 0, 0, 30, 0, 1, 0, 5, 0, 0, 0, 0, 0, 0, 0,  // the header: RTM_GETNEIGH
        2, 0, 0, 0,  // ndm_family, padding
        3, 0, 0, 0,  // ndm_ifindex
        0, 0, 0, 0,  // ndm_state, ndm_flags, ndm_type
        8, 0, 1, 0, 192, 0, 2, 99,  // NDA_DST
      ])
  }

  @Test("the buffer is written over, and keeps its capacity")
  func reusesBuffer() {
    var buffer: [UInt8] = []
    NetlinkRequest.route(RouteQuery(destination: "2001:db8::2")).encode(into: &buffer, sequence: 1)
    let capacity = buffer.capacity
    NetlinkRequest.addresses.encode(into: &buffer, sequence: 2)
    #expect(buffer.count == 24)
    #expect(buffer.capacity == capacity)
  }
}
