import CReachLinux
import ReachCore
import ReachIO
import ReachNetlink
import ReachTestSupport
import Testing

@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct LinkMonitorTests {
  /// Runs `body` with a monitor in a namespace that `prepare` has furnished.
  private func withMonitor<Value: Sendable>(
    wwanInterfaces: [String] = [], receiveBufferBytes: Int32 = 4 << 20,
    staging prepare: @escaping @Sendable (NetworkStage) throws -> Void = { _ in },
    _ body: @escaping @Sendable (EventLoop, NetworkStage, LinkMonitor) async throws -> Value
  ) async throws -> Value {
    try await withNetworkNamespace { loop, stage in
      try prepare(stage)
      let monitor = try LinkMonitor(
        loop: loop, session: try NetlinkSession(loop: loop), wwanInterfaces: wwanInterfaces,
        receiveBufferBytes: receiveBufferBytes)
      defer { monitor.stop() }
      return try await body(loop, stage, monitor)
    }
  }

  @Test("the loopback interface is usable up, though its operating state is unknown, and down when set down")
  func followsLoopback() async throws {
    try await withMonitor { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      #expect(
        monitor.finding(named: "lo") == LinkFinding(interface: "lo", index: 1, medium: .loopback, state: .usable))
      #expect(monitor.links.map(\.operState) == [.unknown])
      try stage.ip("link set lo down")
      try await inbox.until { monitor.finding(index: 1)?.state == .down }
      #expect(inbox.kinds.contains(.link))
    }
  }

  @Test("losing carrier, being set down, and both taken back are followed")
  func followsVeth() async throws {
    try await withMonitor(staging: { try $0.ip("link add va type veth peer name vb\nlink set va up\nlink set vb up") })
    {
      loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      try await inbox.until { ["va", "vb"].allSatisfy { monitor.finding(named: $0).state == .usable } }
      #expect(monitor.finding(named: "va").medium == .wired)
      let before = monitor.links.first { $0.name == "va" }?.carrierChanges ?? 0
      try stage.ip("link set vb down")
      try await inbox.until { monitor.finding(named: "va").state == .noCarrier }
      try await inbox.until { monitor.finding(named: "vb").state == .down }
      #expect(monitor.links.first { $0.name == "va" }?.hasCarrier == false)
      #expect(monitor.links.first { $0.name == "va" }?.carrierChanges ?? 0 > before)
      try stage.ip("link set vb up")
      try await inbox.until { monitor.finding(named: "va").state == .usable }
      try stage.ip("link set va down")
      try await inbox.until { monitor.finding(named: "va").state == .down }
      #expect(monitor.counters.messages["RTM_NEWLINK"] ?? 0 >= 4)
    }
  }

  @Test("a peer in another namespace that is set down is a lost carrier too")
  func followsDistantPeer() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let monitor = try LinkMonitor(loop: loop, session: try NetlinkSession(loop: loop))
      defer { monitor.stop() }
      let inbox = ChangeInbox(monitor, on: loop)
      try await inbox.until { monitor.finding(named: "veth0").state == .usable }
      try gateway.ip("link set veth1 down")
      try await inbox.until { monitor.finding(named: "veth0").state == .noCarrier }
    }
  }

  @Test("an interface in the dormant mode of operation is dormant, with its carrier there")
  func followsDormant() async throws {
    try await withMonitor(staging: {
      try $0.ip("link add va type veth peer name vb\nlink set vb up\nlink set va mode dormant\nlink set va up")
    }) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      try await inbox.until { monitor.finding(named: "va").state == .dormant }
      #expect(monitor.links.first { $0.name == "va" }?.linkMode == 1)
      #expect(monitor.links.first { $0.name == "va" }?.hasCarrier == true)
      try stage.ip("link set va mode default\nlink set va state up")
      try await inbox.until { monitor.finding(named: "va").state == .usable }
    }
  }

  @Test("a renamed interface keeps its index, and its old name means nothing any more")
  func followsRenaming() async throws {
    try await withMonitor(staging: { try $0.ip("link add va type veth peer name vb") }) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      let index = monitor.finding(named: "va").index
      try stage.ip("link set va name uplink")
      try await inbox.until { monitor.finding(named: "uplink").index == index }
      #expect(
        monitor.finding(named: "va") == LinkFinding(interface: "va", index: 0, medium: .other, state: .missing))
      #expect(monitor.finding(index: index)?.interface == "uplink")
      try stage.ip("link set vb name va")
      try await inbox.until { monitor.finding(named: "va").state != .missing }
      #expect(monitor.finding(named: "va").index != index)
    }
  }

  @Test("an interface that is deleted is missing, and one made again under its name has an index of its own")
  func followsDeletion() async throws {
    try await withMonitor(staging: { try $0.ip("link add va type veth peer name vb") }) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      let index = monitor.finding(named: "va").index
      try stage.ip("link delete va")
      try await inbox.until { monitor.finding(named: "va").state == .missing && monitor.finding(index: index) == nil }
      try stage.ip("link add va type veth peer name vb")
      try await inbox.until { monitor.finding(named: "va").state != .missing }
      #expect(monitor.finding(named: "va").index > index)
    }
  }

  @Test("an alternative name finds its interface")
  func followsAlternativeNames() async throws {
    try await withMonitor(staging: { try $0.ip("link add va type veth peer name vb") }) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      // The kernel tells of an alternative name only while the interface is up.
      try stage.ip("link set va up\nlink property add dev va altname enp-long-name-of-a-port")
      try await inbox.until { monitor.finding(named: "enp-long-name-of-a-port").interface == "va" }
    }
  }

  @Test("an interface so new that its message still waits is found by its index")
  func findsTheNewest() async throws {
    try await withMonitor { _, stage, monitor in
      try stage.ip("link add va index 77 type veth peer name vb")
      #expect(monitor.finding(index: 77)?.interface == "va")
      #expect(monitor.finding(index: 78) == nil)
      #expect(monitor.finding(index: -1) == nil)
    }
  }

  @Test("leaving a bridge does not delete the interface, whatever the bridge's own message looks like")
  func survivesBridge() async throws {
    try await withMonitor(staging: {
      try $0.ip(
        """
        link add va type veth peer name vb
        link add br0 type bridge
        link set va master br0
        link set va up
        link set vb up
        link set br0 up
        """)
    }) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      let index = monitor.finding(named: "va").index
      #expect(monitor.links.first { $0.name == "va" }?.portKind == "bridge")
      try stage.ip("link set va nomaster")
      try await inbox.until { monitor.links.first { $0.name == "va" }?.masterIndex == 0 }
      #expect(monitor.finding(named: "va").index == index)
      try stage.ip("address add 192.0.2.77/24 dev vb")
      try await inbox.until { inbox.kinds.contains(.address) }
      #expect(monitor.finding(named: "va").index == index)
    }
  }

  @Test("a bridge, and a macvlan on it, are of the medium of what they rest on")
  func inheritsMedium() async throws {
    try await withMonitor(
      wwanInterfaces: ["modem*"],
      staging: {
        try $0.ip(
          """
          link add modem0 type veth peer name vb
          link add br0 type bridge
          link set modem0 master br0
          link set modem0 up
          link set vb up
          link set br0 up
          link add link br0 name mac0 type macvlan mode bridge
          link set mac0 up
          """)
      }
    ) { _, _, monitor in
      #expect(monitor.finding(named: "modem0").medium == .wwan)
      #expect(monitor.finding(named: "modem0").isTransient)
      #expect(monitor.finding(named: "br0").medium == .wwan)
      #expect(monitor.finding(named: "mac0").medium == .wwan)
      #expect(monitor.finding(named: "vb").medium == .wired)
      monitor.wwanInterfaces = []
      #expect(monitor.finding(named: "mac0").medium == .wired)
      #expect(monitor.links.map(\.name) == ["br0", "lo", "mac0", "modem0", "vb"])
    }
  }

  @Test("a macvlan whose lower interface loses its carrier has a lower layer that is down")
  func followsLowerLayer() async throws {
    try await withMonitor(staging: {
      try $0.ip(
        """
        link add va type veth peer name vb
        link set va up
        link set vb up
        link add link va name mac0 type macvlan mode bridge
        link set mac0 up
        """)
    }) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      try await inbox.until { monitor.finding(named: "mac0").state == .usable }
      try stage.ip("link set vb down")
      try await inbox.until { monitor.finding(named: "mac0").state == .lowerLayerDown }
      #expect(monitor.finding(named: "mac0").reason == .linkLowerDown)
    }
  }

  @Test("a tun without a process has no carrier, and is a tunnel; a tap is wired")
  func followsTun() async throws {
    try await withMonitor(staging: {
      try $0.ip("tuntap add tun0 mode tun\ntuntap add tap0 mode tap\nlink set tun0 up\nlink set tap0 up")
    }) { _, _, monitor in
      let tun = monitor.finding(named: "tun0")
      #expect(tun.medium == .vpn)
      #expect(tun.isPointToPoint)
      #expect(tun.isTransient)
      #expect(tun.state == .noCarrier)
      #expect(tun.underlay == nil)
      #expect(monitor.finding(named: "tap0").medium == .wired)
      #expect(monitor.finding(named: "tap0").isTransient == false)
    }
  }

  @Test("addresses, routes, rules, nexthops and settings are told apart")
  func tellsKinds() async throws {
    try await withMonitor(staging: { try $0.ip("link add va type veth peer name vb\nlink set va up\nlink set vb up") })
    {
      loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      try stage.ip("address add 192.0.2.1/24 dev va")
      try await inbox.until { inbox.kinds.isSuperset(of: [.address, .route]) }
      inbox.clear()
      try stage.ip("rule add fwmark 9 table 100")
      try await inbox.until { inbox.kinds.contains(.rule) }
      inbox.clear()
      try stage.ip("nexthop add id 5 via 192.0.2.254 dev va")
      try await inbox.until { inbox.kinds.contains(.nexthop) }
      inbox.clear()
      try stage.set("ipv4/conf/va/ignore_routes_with_linkdown", to: "1")
      try await inbox.until { inbox.kinds.contains(.netconf) }
      inbox.clear()
      try stage.ip("route add 198.51.100.0/24 via 192.0.2.254")
      try await inbox.until { inbox.kinds.contains(.route) }
      #expect(inbox.kinds == .route)
      let counters = monitor.counters
      for type in ["RTM_NEWADDR", "RTM_NEWROUTE", "RTM_NEWRULE", "RTM_NEWNEXTHOP", "RTM_NEWNETCONF"] {
        #expect(counters.messages[type] ?? 0 > 0, "\(type)")
      }
      #expect(counters.malformed == 0)
      #expect(counters.overruns == 0)
    }
  }

  @Test("after an overrun everything is read anew, and the monitor goes on")
  func survivesOverrun() async throws {
    try await withMonitor(receiveBufferBytes: 1) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      // All in one run of ip, while the loop stands still: far more than the least buffer holds.
      let pairs = (0..<40).map { "link add l\($0) type veth peer name r\($0)" }
      try stage.ip((pairs + ["link set l7 up", "link set r7 up"]).joined(separator: "\n"))
      try await inbox.until { inbox.kinds.contains(.resync) }
      #expect(monitor.links.count == 81)
      try await inbox.until { monitor.finding(named: "l7").state == .usable }
      #expect(monitor.counters.overruns >= 1)
      #expect(monitor.counters.resyncs >= 1)
      #expect(inbox.changes.contains { $0.resyncDuration != nil })
      try stage.ip("link set r7 down")
      try await inbox.until { monitor.finding(named: "l7").state == .noCarrier }
    }
  }

  @Test("after hundreds of interfaces and addresses have come and gone unread, the table is what the kernel has")
  func survivesStorm() async throws {
    try await withMonitor(
      receiveBufferBytes: 1,
      staging: { try $0.ip("link add va type veth peer name vb\nlink add eth0 type bridge\nlink set va up") }
    ) { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      let index = monitor.finding(named: "eth0").index
      var lines = (0..<100).map { "link add d\($0) type bridge" }
      lines += (1..<200).map { "address add 192.0.2.\($0)/32 dev va" }
      lines += (0..<100).filter { $0 % 3 != 0 }.map { "link delete d\($0)" }
      lines += (1..<200).filter { $0 % 2 == 0 }.map { "address delete 192.0.2.\($0)/32 dev va" }
      lines += ["link delete eth0", "link set d3 name eth0", "link set d6 up", "link set vb up"]
      try stage.ip(lines.joined(separator: "\n"))
      try await inbox.until { monitor.counters.resyncs > 0 && monitor.finding(named: "va").state == .usable }
      #expect(inbox.changes.contains { $0.kinds.contains(.resync) && $0.resyncDuration != nil })
      #expect(monitor.finding(named: "eth0").index != index)
      #expect(monitor.finding(index: index) == nil)
      let fresh = try NetlinkSession(loop: loop).links().map { [$0.name, "\($0.index)"] }.sorted { $0[0] < $1[0] }
      #expect(monitor.links.map { [$0.name, "\($0.index)"] } == fresh)
      #expect(monitor.links.count == 37)
    }
  }

  @Test("an interface that is sent to another namespace is missing, and found by its name when it is back")
  func followsNamespaces() async throws {
    try await withNetworkNamespace { loop, stage in
      let other = try stage.addNamespace("other")
      try stage.ip("link add eth0.5 type veth peer name vb\nlink set vb up\nlink set eth0.5 up")
      let monitor = try LinkMonitor(loop: loop, session: try NetlinkSession(loop: loop))
      defer { monitor.stop() }
      let inbox = ChangeInbox(monitor, on: loop)
      try await inbox.until { monitor.finding(named: "eth0.5").state == .usable }
      try stage.ip("link set eth0.5 netns \(other.path)")
      try await inbox.until { monitor.finding(named: "eth0.5").state == .missing }
      try other.ip("link set eth0.5 netns \(stage.host.path)")
      try await inbox.until { monitor.finding(named: "eth0.5").state == .down }
      try stage.ip("link set eth0.5 up")
      try await inbox.until { monitor.finding(named: "eth0.5").state == .usable }
      #expect(monitor.finding(named: "eth0.5@if5").state == .missing)
    }
  }

  @Test("an address told again with another lifetime is no news, and a look finds an alternative name told by nobody")
  func tellsNoRepetition() async throws {
    try await withMonitor(staging: { try $0.ip("link add d0 type bridge\nlink add d1 type bridge\nlink set d0 up") }) {
      loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      try stage.ip("address add 192.0.2.1/24 dev d0 valid_lft 1000 preferred_lft 1000")
      try await inbox.until { inbox.kinds.contains(.address) }
      inbox.clear()
      let before = monitor.counters.messages["RTM_NEWADDR"] ?? 0
      try stage.ip("address change 192.0.2.1/24 dev d0 valid_lft 2000 preferred_lft 2000\nlink set d1 mtu 1400")
      try await inbox.until { inbox.kinds.contains(.link) }
      #expect(monitor.counters.messages["RTM_NEWADDR"] ?? 0 > before)
      #expect(!inbox.kinds.contains(.address))
      try stage.ip("link property add dev d1 altname an-uplink-that-is-down.0")
      monitor.recheck()
      #expect(monitor.finding(named: "an-uplink-that-is-down.0").interface == "d1")
    }
  }

  @Test("a carrier that is back before its loss was read is told as a flap")
  func tellsFlaps() async throws {
    try await withMonitor(staging: { try $0.ip("link add va type veth peer name vb\nlink set va up\nlink set vb up") })
    { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      try await inbox.until { monitor.finding(named: "va").state == .usable }
      inbox.clear()
      try stage.ip("link set vb down\nlink set vb up")
      try stage.host.awaitLink("va", showing: "state UP")
      try await inbox.until { inbox.kinds.contains(.flap) }
      #expect(monitor.finding(named: "va").state == .usable)
      #expect(monitor.counters.flaps >= 1)
    }
  }

  @Test("while nothing changes the loop is not woken, and a finding is had without a system call")
  func restsWhenNothingChanges() async throws {
    let turns = try await withMonitor { loop, _, monitor in
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(20)))
      let before = loop.turns
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(50)))
      _ = monitor.finding(named: "lo")
      return loop.turns - before
    }
    #expect(turns <= 2)
  }

  @Test("a handler that was taken back is not called, and after stop() none is")
  func takesHandlersBack() async throws {
    try await withMonitor { loop, stage, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      let called = LoopConfined(0, on: loop)
      let id = monitor.onChange { _ in called.withState { $0 += 1 } }
      monitor.removeHandler(id)
      try stage.ip("link add va type veth peer name vb")
      try await inbox.until { inbox.kinds.contains(.link) }
      #expect(called.withState { $0 } == 0)
      monitor.stop()
      inbox.clear()
      try stage.ip("link delete va")
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(5)))
      #expect(inbox.changes.isEmpty)
    }
  }
}
