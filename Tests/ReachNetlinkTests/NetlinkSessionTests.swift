import CReachLinux
import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachNetlink

@Suite(.timeLimit(.minutes(4))) struct NetlinkSessionTests {
  @Test("127.0.0.1 is a local address on the loopback interface")
  func looksUpLoopback() async throws {
    let answer = try await withEventLoop { loop in
      try NetlinkSession(loop: loop).lookup(RouteQuery(destination: "127.0.0.1"))
    }
    let route = try #require(answer.found)
    #expect(route.type == UInt8(RTN_LOCAL))
    #expect(route.outputInterface == 1)
    #expect(route.prefixLength == 32)
    #expect(route.preferredSource == "127.0.0.1")
    #expect(route.legs.isEmpty)
  }

  @Test("lookups use their buffers again")
  func reusesBuffers() async throws {
    try await withEventLoop { loop in
      let session = try NetlinkSession(loop: loop)
      _ = session.lookup(RouteQuery(destination: "127.0.0.1"))
      let before = session.state.withState { ($0.request.capacity, $0.answer.count) }
      for _ in 0..<1000 { #expect(session.lookup(RouteQuery(destination: "127.0.0.1")).found != nil) }
      let after = session.state.withState { ($0.request.capacity, $0.answer.count) }
      #expect(before == after)
      #expect(session.counters.strays == 0)
    }
  }

  @Test("the sequence number goes past its end without being that of an event")
  func wrapsSequence() async throws {
    try await withEventLoop { loop in
      let session = try NetlinkSession(loop: loop)
      session.state.withState { $0.sequence = .max }
      #expect(session.lookup(RouteQuery(destination: "127.0.0.1")).found != nil)
      #expect(session.state.withState { $0.sequence } == 1)
    }
  }

  @Test("an answer that does not fit the buffer makes it grow, and is asked for again")
  func growsBuffer() async throws {
    try await withEventLoop { loop in
      let session = try NetlinkSession(loop: loop)
      session.state.withState { $0.answer = [UInt8](repeating: 0, count: 40) }
      #expect(session.lookup(RouteQuery(destination: "127.0.0.1")).found != nil)
      session.state.withState { $0.answer = [UInt8](repeating: 0, count: 40) }
      #expect(try session.links().contains { $0.name == "lo" })
      #expect(session.counters.restarts >= 1)
    }
  }
}

@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct NetlinkSessionStagedTests {
  private func withSession<Value: Sendable>(
    _ body: @escaping @Sendable (EventLoop, NetworkStage, NetlinkSession) throws -> Value
  ) async throws -> Value {
    try await withNetworkNamespace { loop, stage in try body(loop, stage, try NetlinkSession(loop: loop)) }
  }

  @Test("each type of route is its errno, in both families")
  func tellsRouteTypes() async throws {
    let answers = try await withSession { _, stage, session in
      try stage.ip(
        """
        route add unreachable 198.51.100.1
        route add prohibit 198.51.100.2
        route add blackhole 198.51.100.3
        route add throw 198.51.100.4
        route add unreachable 2001:db8:1::1
        route add prohibit 2001:db8:1::2
        route add blackhole 2001:db8:1::3
        route add throw 2001:db8:1::4
        """)
      let destinations: [IPAddress] = [
        "198.51.100.1", "198.51.100.2", "198.51.100.3", "198.51.100.4", "198.51.100.5", "2001:db8:1::1",
        "2001:db8:1::2", "2001:db8:1::3", "2001:db8:1::4", "2001:db8:1::5",
      ]
      return destinations.map { session.lookup(RouteQuery(destination: $0)) }
    }
    let codes = [EHOSTUNREACH, EACCES, EINVAL, ENETUNREACH, ENETUNREACH]
    #expect(answers == (codes + codes).map { .refused(FaultCode(errno: $0)) })
  }

  @Test("a gateway, its interface and the source are found in both families")
  func findsGateway() async throws {
    try await withSession { _, stage, session in
      _ = try stage.stageGateway()
      let index = try #require(try session.links().first { $0.name == "veth0" }?.index)
      let route = try #require(session.lookup(RouteQuery(destination: StageAddress.server)).found)
      #expect(route.gateway == StageAddress.gateway)
      #expect(route.outputInterface == index)
      #expect(route.preferredSource == StageAddress.host)
      #expect(route.table == UInt32(RT_TABLE_MAIN.rawValue))
      let route6 = try #require(session.lookup(RouteQuery(destination: StageAddress.server6)).found)
      #expect(route6.gateway == StageAddress.gateway6)
      #expect(route6.outputInterface == index)
      let onLink = try #require(session.lookup(RouteQuery(destination: StageAddress.absent)).found)
      #expect(onLink.gateway == nil)
    }
  }

  @Test("a lookup bound to an interface is answered honestly only with the matching entry")
  func matchesEntries() async throws {
    try await withSession { _, stage, session in
      _ = try stage.stageGateway()
      try stage.ip("route del default via 192.0.2.254")
      let index = try #require(try session.links().first { $0.name == "veth0" }?.index)
      var query = RouteQuery(destination: StageAddress.server, outputInterface: index)
      let assumed = try #require(session.lookup(query).found)
      #expect(assumed.gateway == nil)
      query.isFIBMatch = true
      #expect(session.lookup(query) == .refused(FaultCode(errno: EHOSTUNREACH)))
      query.outputInterface = 4096
      #expect(session.lookup(query) == .refused(FaultCode(errno: ENODEV)))
    }
  }

  @Test("a mark chooses the table, whose number is told")
  func followsMark() async throws {
    try await withSession { _, stage, session in
      _ = try stage.stageGateway()
      try stage.ip(
        """
        rule add fwmark 0x10 table 4000
        route add prohibit 203.0.113.0/24
        route add 203.0.113.0/24 via 192.0.2.254 table 4000
        """)
      var query = RouteQuery(destination: "203.0.113.1")
      #expect(session.lookup(query) == .refused(FaultCode(errno: EACCES)))
      query.mark = 0x10
      #expect(session.lookup(query).found?.table == 4000)
    }
  }

  @Test("the legs of a route are listed with the entry, and one that is not chosen is dead")
  func listsLegs() async throws {
    try await withNetworkNamespace { loop, stage in
      let session = try NetlinkSession(loop: loop)
      let monitor = try LinkMonitor(loop: loop, session: session)
      defer { monitor.stop() }
      let inbox = ChangeInbox(monitor, on: loop)
      try stage.ip(
        """
        link add va type veth peer name vb
        link set va up
        link set vb up
        link add vc type veth peer name vd
        link set vc up
        link set vd up
        address add 192.0.2.1/25 dev va
        address add 192.0.2.129/25 dev vc
        route add 198.51.100.0/24 nexthop via 192.0.2.2 weight 3 nexthop via 192.0.2.130
        """)
      let query = RouteQuery(destination: StageAddress.server, isFIBMatch: true)
      let route = try #require(session.lookup(query).found)
      #expect(route.legs.map(\.gateway) == ["192.0.2.2", "192.0.2.130"])
      #expect(route.legs.map(\.weight) == [3, 1])
      #expect(route.legs.map(\.isDead) == [false, false])
      #expect(route.prefixLength == 24)
      try await inbox.until { monitor.finding(named: "vc").state == .usable }
      try stage.ip("link set vd down")
      try await inbox.until { monitor.finding(named: "vc").state == .noCarrier }
      #expect(session.lookup(query).found?.legs.map(\.isDead) == [false, false])
      try stage.set("ipv4/conf/vc/ignore_routes_with_linkdown", to: "1")
      #expect(session.lookup(query).found?.legs.map(\.isDead) == [false, true])
    }
  }

  @Test("a route through a nexthop object names it")
  func namesNexthop() async throws {
    try await withSession { _, stage, session in
      _ = try stage.stageGateway()
      try stage.ip("nexthop add id 9 via 192.0.2.254 dev veth0\nroute add 203.0.113.0/24 nhid 9")
      let query = RouteQuery(destination: "203.0.113.1", isFIBMatch: true)
      #expect(session.lookup(query).found?.nexthopID == 9)
    }
  }

  @Test("a source that is no address of this host is a fault of the request, not a missing route or a blackhole")
  func refusesForeignSource() async throws {
    try await withSession { _, stage, session in
      _ = try stage.stageGateway()
      var query = RouteQuery(destination: StageAddress.server, source: "203.0.113.9")
      #expect(session.lookup(query) == .fault(FaultCode(errno: EADDRNOTAVAIL)))
      query.source = StageAddress.host
      #expect(session.lookup(query).found != nil)
      try stage.ip("route add blackhole 203.0.113.1")
      query.destination = "203.0.113.1"
      #expect(session.lookup(query) == .refused(FaultCode(errno: EINVAL)))
    }
  }

  @Test("messages of another process are ignored, by the session and by the monitor")
  func ignoresForgeries() async throws {
    try await withSession { loop, stage, session in
      let monitor = try LinkMonitor(loop: loop, session: session)
      defer { monitor.stop() }
      let events = try #require(monitor.source as? KernelSource).events
      let forger = try NetlinkSocket()
      // An answer to the very next request, and news of an interface that has gone.
      let route = message(
        RTM_NEWROUTE, sequence: session.state.withState { $0.sequence } + 1, port: session.socket.port,
        [2, 32, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0])
      let removal = message(RTM_DELLINK, sequence: 0, port: 0, [0, 0, 4, 3, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
      #expect(send(route, from: forger, to: session.socket.port) == route.count)
      #expect(send(removal, from: forger, to: events.port) == removal.count)
      #expect(session.lookup(RouteQuery(destination: "127.0.0.1")).found?.type == UInt8(RTN_LOCAL))
      #expect(session.counters.strays == 1)
      monitor.drain()
      #expect(monitor.counters.strays == 1)
      #expect(monitor.finding(named: "lo").state == .usable)
    }
  }

  private func send(_ bytes: [UInt8], from socket: NetlinkSocket, to port: UInt32) -> Int {
    var address = sockaddr_nl()
    address.nl_family = sa_family_t(AF_NETLINK)
    address.nl_pid = port
    let length = socklen_t(MemoryLayout<sockaddr_nl>.size)
    return unsafe withUnsafePointer(to: &address) { pointer in
      unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        unsafe sendto(socket.descriptor.number, bytes, bytes.count, 0, $0, length)
      }
    }
  }

  @Test("interfaces, addresses and neighbours are listed")
  func lists() async throws {
    try await withSession { _, stage, session in
      _ = try stage.stageGateway()
      try stage.ip("neighbour add 192.0.2.99 lladdr 02:00:00:00:00:09 dev veth0")
      let links = try session.links()
      #expect(links.map(\.name).sorted() == ["lo", "veth0"])
      let veth = try #require(links.first { $0.name == "veth0" })
      #expect(veth.kind == "veth")
      #expect(veth.isLowerElsewhere)
      #expect(veth.hardwareAddress.count == 6)
      #expect(veth.mtu == 1500)
      let addresses = try session.addresses().filter { $0.interface == veth.index && $0.scope == 0 }
      #expect(Set(addresses.map(\.address)) == [StageAddress.host, StageAddress.host6])
      #expect(Set(addresses.map(\.prefixLength)) == [24, 64])
      let neighbour = try session.neighbours().first { $0.address == StageAddress.absent }
      #expect(neighbour?.state == .permanent)
      #expect(neighbour?.hardwareAddress == [2, 0, 0, 0, 0, 9])
      #expect(neighbour?.interface == veth.index)
    }
  }

  @Test("one neighbour's state is had by its address; there is none where the kernel has no entry")
  func looksUpNeighbours() async throws {
    try await withSession { _, stage, session in
      _ = try stage.stageGateway()
      let index = try #require(try session.links().first { $0.name == "veth0" }?.index)
      try stage.ip("neighbour add 192.0.2.99 dev veth0 nud failed\nneighbour add 2001:db8::99 dev veth0 nud failed")
      #expect(session.neighbourState(interface: index, address: StageAddress.absent) == .failed)
      #expect(session.neighbourState(interface: index, address: StageAddress.absent6) == .failed)
      #expect(session.neighbourState(interface: index, address: "192.0.2.98") == nil)
      #expect(session.neighbourState(interface: 4096, address: StageAddress.absent) == nil)
    }
  }

  @Test("a dump during which an interface came is found out, and the next one is whole")
  func findsInterruption() async throws {
    try await withSession { _, stage, session in
      // More interfaces than fit one datagram, so that the dump goes on after the change.
      try stage.ip((0..<80).map { "link add l\($0) type veth peer name r\($0)" }.joined(separator: "\n"))
      try session.state.withState { state in
        #expect(session.start(.links, &state) == nil)
        try stage.ip("link add late type veth peer name later")
        guard case .incomplete = try session.readDump(&state) else {
          Issue.record("the interruption was not found out")
          return
        }
      }
      #expect(try session.links().count == 163)
    }
  }
}

extension RouteAnswer {
  /// The route; nil when there is none.
  fileprivate var found: RouteMessage? { if case .route(let route) = self { route } else { nil } }
}
