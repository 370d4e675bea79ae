import Glibc
import ReachBlackbox
import ReachConfig
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

/// A module with the backend dns against servers on loopback.
@Suite(.timeLimit(.minutes(4))) struct DNSModuleTests {
  private static let address = IPAddress(ipv4: 0xc000_0201)

  private static func module(
    _ type: UInt16 = 1, _ transport: DNSModule.Transport = .udp, name: String = "www.example.test"
  ) -> DNSModule {
    var module = DNSModule(queryName: name)
    module.queryType = type
    module.transport = transport
    return module
  }

  private static func probe(
    _ server: FakeNameServer, by module: DNSModule, within timeout: Duration = .seconds(10), on loop: EventLoop
  ) async throws -> Probed {
    try await probe("\(server.address):\(server.port)", by: module, within: timeout, on: loop)
  }

  private static func probe(
    _ target: String, by module: DNSModule, within timeout: Duration = .seconds(10), on loop: EventLoop,
    _ host: ProbeHost? = nil
  ) async throws -> Probed {
    let host = try host ?? ProbeHost.onThisLoop(loop)
    let log = ProbeLogbook(module: "m", target: target)
    let parsed = try Target(probing: target, policy: TargetPolicy())
    let allowance = ProbeAllowance(
      rules: [try AllowRule(parsing: "127.0.0.0/8"), try AllowRule(parsing: "::1")], declared: [Target]())
    let probe = ModuleProbe(
      of: parsed, by: loop.now().advanced(by: timeout), on: host, resolver: nil,
      allowance: allowance, grant: try allowance.grant(parsed, port: parsed.port), log: log)
    var metrics = ProbeMetrics()
    let outcome = await probe.run(module, into: &metrics)
    return Probed(outcome: outcome, metrics: metrics, log: log.text)
  }

  // MARK: Answers

  @Test("the records are counted, and the times measured", arguments: [DNSModule.Transport.udp, .tcp])
  func answer(_ transport: DNSModule.Transport) async throws {
    let probed = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address, IPAddress(ipv4: 1)])) }
      defer { server.stop() }
      let probed = try await Self.probe(server, by: Self.module(1, transport), on: loop)
      let query = try #require(server.queries.first)
      #expect(query.isTCP == (transport == .tcp) && query.name == "www.example.test" && query.type == 1)
      #expect(query.bytes[2] == 1 && !query.hasEDNS && server.queries.count == 1)
      return probed
    }
    #expect(probed.outcome == .success, "\(probed.log)")
    #expect(probed.metrics.value("probe_dns_answer_rrs") == 2)
    #expect(probed.metrics.value("probe_dns_authority_rrs") == 0)
    #expect(probed.metrics.value("probe_dns_query_succeeded") == 1)
    #expect(probed.metrics.value("probe_dns_query_retries") == 0)
    #expect(probed.metrics.value("probe_dns_reply_truncated") == 0)
    for phase in ["resolve", "connect", "request"] {
      let label = [Label(name: "phase", value: phase)]
      #expect(probed.metrics.value("probe_dns_duration_seconds", label).map { $0 >= 0 } == true)
    }
    #expect(probed.metrics.value("probe_dns_serial") == nil)
    #expect(probed.log.contains(#"rr="www.example.test.\t300\tIN\tA\t192.0.2.1""#), "\(probed.log)")
  }

  @Test("a question is asked in its class, and without recursion when that is not desired")
  func question() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.answer([])) }
      defer { server.stop() }
      var module = Self.module(16, name: "version.bind")
      module.queryClass = 3
      module.wantsRecursion = false
      #expect(try await Self.probe(server, by: module, on: loop).outcome == .success)
      let query = try #require(server.queries.first)
      #expect(query.bytes[2] == 0 && query.bytes.suffix(4) == [0, 16, 0, 3])
    }
  }

  @Test("the serial number is that of the SOA record, and 0 when there is none")
  func serial() async throws {
    try await withEventLoop { loop in
      let data =
        Wire.name("ns.test") + Wire.name("host.test") + [0x78, 0xc4, 7, 0xe9] + [UInt8](repeating: 0, count: 16)
      let server = try FakeNameServer(loop) { query in
        let soa = Wire.Record(owner: Wire.questionName, type: 6, ttl: 60, data: data)
        return .reply(query.answer(query.name == "zone.test" ? [soa] : []))
      }
      defer { server.stop() }
      let zone = try await Self.probe(server, by: Self.module(6, name: "zone.test"), on: loop)
      #expect(zone.metrics.value("probe_dns_serial") == 2_026_113_001)
      let other = try await Self.probe(server, by: Self.module(6, name: "other.test"), on: loop)
      #expect(other.metrics.value("probe_dns_serial") == 0)
    }
  }

  @Test("a code that is not valid is a failure with an answer")
  func codes() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.answer([], code: 2)) }
      defer { server.stop() }
      var module = Self.module()
      let failed = try await Self.probe(server, by: module, on: loop)
      #expect(failed.outcome == .failure && failed.metrics.value("probe_dns_query_succeeded") == 1)
      #expect(failed.log.contains("rcode=SERVFAIL valid_rcodes=NOERROR"), "\(failed.log)")
      module.validCodes = [3, 2]
      #expect(try await Self.probe(server, by: module, on: loop).outcome == .success)
    }
  }

  @Test("what the records of a section must be is looked at in that section")
  func sections() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      var module = Self.module()
      module.answer.failIfNotMatches = [try RegularExpression("\tA\t192\\.0\\.2\\.1$")]
      #expect(try await Self.probe(server, by: module, on: loop).outcome == .success)
      module.additional.failIfNoneMatches = [try RegularExpression(".")]
      let failed = try await Self.probe(server, by: module, on: loop)
      #expect(failed.outcome == .failure)
      #expect(failed.log.contains("Additional RRs validation failed"), "\(failed.log)")
    }
  }

  // MARK: UDP

  @Test("a query that is not answered is sent again, and the answer then counts")
  func retry() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { $0.number < 2 ? .silence : .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      let probed = try await Self.probe(server, by: Self.module(), within: .seconds(20), on: loop)
      #expect(probed.outcome == .success, "\(probed.log)")
      #expect(probed.metrics.value("probe_dns_query_retries") == 2)
      // The same query: an answer to either of them will do.
      #expect(Set(server.queries.map(\.id)).count == 1)
    }
  }

  @Test("silence is a failure by the deadline, without an answer and without what only an answer has")
  func silence() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { _ in .silence }
      defer { server.stop() }
      let probed = try await Self.probe(server, by: Self.module(6), within: .milliseconds(300), on: loop)
      #expect(probed.outcome == .failure && probed.log.contains("no answer in time"), "\(probed.log)")
      #expect(probed.metrics.value("probe_dns_query_succeeded") == 0)
      #expect(probed.metrics.value("probe_dns_reply_truncated") == nil)
      #expect(probed.metrics.value("probe_dns_serial") == nil)
      let request = probed.metrics.value("probe_dns_duration_seconds", [Label(name: "phase", value: "request")])
      #expect(request.map { $0 > 0 } == true)
    }
  }

  @Test("messages that answer another query are left aside")
  func strangers() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { query in
        let right = query.addresses([Self.address])
        let wrongNumber = [right[0] ^ 1] + right.dropFirst()
        let wrongQuestion = Wire.message(id: query.id, flags: 0x8180, question: Wire.question("other.test", 1))
        return .replies([wrongNumber, wrongQuestion, query.bytes, [1, 2, 3], [], right])
      }
      defer { server.stop() }
      let probed = try await Self.probe(server, by: Self.module(), on: loop)
      #expect(probed.outcome == .success && probed.log.contains("count=5"), "\(probed.log)")
    }
  }

  @Test("an answer that cannot be read is a failure at once")
  func malformed() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply(Array($0.addresses([Self.address]).dropLast())) }
      defer { server.stop() }
      for transport in [DNSModule.Transport.udp, .tcp] {
        let probed = try await Self.probe(server, by: Self.module(1, transport), on: loop)
        #expect(probed.outcome == .failure && probed.log.contains("cannot be read"), "\(probed.log)")
        #expect(probed.metrics.value("probe_dns_query_succeeded") == 0)
      }
    }
  }

  @Test("what did not fit into a datagram is asked for again over TCP")
  func truncated() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { query in
        query.isTCP
          ? .reply(query.addresses([Self.address])) : .reply(query.answer([], flags: Wire.Flags.truncated))
      }
      defer { server.stop() }
      let probed = try await Self.probe(server, by: Self.module(), on: loop)
      #expect(probed.outcome == .success && server.queries.map(\.isTCP) == [false, true])
      #expect(probed.metrics.value("probe_dns_answer_rrs") == 1)
      #expect(probed.metrics.value("probe_dns_reply_truncated") == 1)
    }
  }

  @Test("where TCP is refused, what did fit into the datagram is the answer")
  func truncatedWithoutTCP() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop, listensToTCP: false) {
        .reply($0.answer([Wire.address(Self.address)], flags: Wire.Flags.truncated))
      }
      defer { server.stop() }
      let probed = try await Self.probe(server, by: Self.module(), on: loop)
      #expect(probed.outcome == .success && probed.log.contains("Going on with what did fit"), "\(probed.log)")
      #expect(probed.metrics.value("probe_dns_answer_rrs") == 1)
    }
  }

  // MARK: Faults

  @Test("a port that nobody serves is a failure at once", arguments: [DNSModule.Transport.udp, .tcp])
  func refused(_ transport: DNSModule.Transport) async throws {
    try await withEventLoop { loop in
      let closed = try TestPort(.closed)
      let probed = try await Self.probe("127.0.0.1:\(closed.number)", by: Self.module(1, transport), on: loop)
      #expect(probed.outcome == .failure && probed.log.contains("ECONNREFUSED"), "\(probed.log)")
    }
  }

  @Test("a connection that ends too soon, or never speaks, is a failure")
  func connection() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { _ in .close }
      defer { server.stop() }
      let ended = try await Self.probe(server, by: Self.module(1, .tcp), on: loop)
      #expect(ended.outcome == .failure && ended.log.contains("ended the connection"), "\(ended.log)")
      let silent = try FakeNameServer(loop) { _ in .silence }
      defer { silent.stop() }
      let late = try await Self.probe(silent, by: Self.module(1, .tcp), within: .milliseconds(100), on: loop)
      #expect(late.outcome == .failure && late.log.contains("no answer in time"), "\(late.log)")
      let wrong = try FakeNameServer(loop) { .reply([0, 0] + $0.answer([]).dropFirst(2)) }
      defer { wrong.stop() }
      let foreign = try await Self.probe(wrong, by: Self.module(1, .tcp), on: loop)
      #expect(foreign.outcome == .failure && foreign.log.contains("no answer to the query"), "\(foreign.log)")
    }
  }

  @Test("an address of this host is asked from, and one of another is a failure")
  func source() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      for transport in [DNSModule.Transport.udp, .tcp] {
        var module = Self.module(1, transport)
        module.addressing.source = IPAddress(ipv4: 0x7f00_0002)
        #expect(try await Self.probe(server, by: module, on: loop).outcome == .success)
        module.addressing.source = Self.address
        let foreign = try await Self.probe(server, by: module, on: loop)
        #expect(foreign.outcome == .failure && foreign.log.contains("EADDRNOTAVAIL"), "\(foreign.log)")
      }
    }
  }

  @Test("a name that no query can hold is a failure without a query")
  func badName() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.answer([])) }
      defer { server.stop() }
      let probed = try await Self.probe(server, by: Self.module(name: "a..b"), on: loop)
      #expect(probed.outcome == .failure && server.queries.isEmpty)
    }
  }

  @Test("a probe that nobody waits for ends at once and leaves nothing open")
  func cancelled() async throws {
    try await withEventLoop(isolatesDescriptors: true) { loop in
      let server = try FakeNameServer(loop) { _ in .silence }
      defer { server.stop() }
      let host = try ProbeHost.onThisLoop(loop)
      let before = Self.openDescriptors()
      for transport in [DNSModule.Transport.udp, .tcp] {
        let task = loop.spawn {
          _ = try? await Self.probe(
            "127.0.0.1:\(server.port)", by: Self.module(1, transport), within: .seconds(600), on: loop, host)
        }
        while server.queries.count < (transport == .udp ? 1 : 2) { await loop.settle() }
        task.cancel()
        await task.value
      }
      // The server closes its end of the connection when it sees that ours is closed.
      try await eventually("the end of the connection", on: loop) { Self.openDescriptors() == before ? () : nil }
    }
  }

  private static func openDescriptors() -> Int {
    (0..<256).count { fcntl($0, F_GETFD) >= 0 }
  }
}
