import CReachLinux
import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachNetlink

@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct MonitorCoreFuzzTests {
  /// What the kernel sends while interfaces, addresses, routes, rules and nexthops come and go.
  private func record() async throws -> [[UInt8]] {
    try await withNetworkNamespace { loop, stage in
      let socket = try NetlinkSocket()
      for group in [
        RTNLGRP_LINK, RTNLGRP_IPV4_IFADDR, RTNLGRP_IPV6_IFADDR, RTNLGRP_IPV4_ROUTE, RTNLGRP_IPV6_ROUTE,
        RTNLGRP_IPV4_RULE, RTNLGRP_IPV6_RULE, RTNLGRP_IPV4_NETCONF, RTNLGRP_IPV6_NETCONF, RTNLGRP_NEXTHOP,
      ] {
        try socket.set(NETLINK_ADD_MEMBERSHIP, Int32(bitPattern: group.rawValue))
      }
      try stage.ip(
        """
        link add va type veth peer name vb
        link set va up
        link set vb up
        link property add dev va altname a-rather-long-alternative-name
        link add br0 type bridge
        link set vb master br0
        link set br0 up
        address add 192.0.2.1/24 dev va
        address add 2001:db8::1/64 dev va
        route add default via 192.0.2.254
        route add 203.0.113.0/24 nexthop via 192.0.2.2 nexthop via 192.0.2.3
        rule add fwmark 9 table 100
        nexthop add id 5 via 192.0.2.254 dev va
        link set vb nomaster
        link set vb down
        link set va name uplink
        rule delete fwmark 9 table 100
        link delete uplink
        link delete br0
        """)
      var datagrams: [[UInt8]] = []
      var buffer = [UInt8](repeating: 0, count: 32 * 1024)
      while case .datagram(let count) = socket.receive(into: &buffer) { datagrams.append(Array(buffer[..<count])) }
      return datagrams
    }
  }

  @Test("the kernel's own messages, flipped, overwritten, cut and in any order, are taken or refused")
  func survives() async throws {
    let corpus = try await record()
    try #require(corpus.count > 20)
    var core = MonitorCore()
    var random = Seeded(state: 2)
    var now = Instant(nanoseconds: 0)
    for round in 0..<20_000 {
      var bytes = corpus[random.next(below: corpus.count)]
      for _ in 0..<random.next(below: 4) {
        let at = random.next(below: bytes.count)
        switch random.next(below: 4) {
        case 0: bytes[at] ^= 1 << UInt8(random.next(below: 8))
        case 1: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 2: bytes[at] = 0xff
        default: bytes = Array(bytes.prefix(max(1, at)))
        }
      }
      core.beginBatch(at: now)
      core.take(unsafe bytes.span.bytes)
      if round % 8 == 7 {
        now = now.advanced(by: .milliseconds(1))
        _ = core.finishBatch(at: now)
      }
    }
    #expect(core.counts.malformed > 0)
    // True messages are understood as before.
    core = MonitorCore()
    core.beginBatch(at: now)
    for bytes in corpus { core.take(unsafe bytes.span.bytes) }
    guard case .tell(let change) = core.finishBatch(at: now) else {
      Issue.record("nothing is told")
      return
    }
    #expect(change.kinds.isSuperset(of: [.link, .address, .route, .rule, .nexthop, .netconf]))
    #expect(core.table.links.isEmpty)
    #expect(core.counts.malformed == 0)
  }
}
