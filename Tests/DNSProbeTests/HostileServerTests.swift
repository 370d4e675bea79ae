import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import DNSProbe

/// Each way a name server can fail, told apart. The servers are sockets on loopback.
@Suite struct HostileServerTests {
  static let address = IPAddress(ipv4: 0xc000_0201)
  static let address6 = IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: 1)
  static let both = [address6, address]

  @Test("a good answer is taken, both families together, IPv6 first", .timeLimit(.minutes(4)))
  func good() async throws {
    let (finding, queries) = try await resolveOnce { .reply($0.addresses(Self.both, ttl: 77)) }
    #expect(finding.result == .resolved)
    #expect(finding.addresses == Self.both)
    #expect(finding.ipv4 == .resolved)
    #expect(finding.ipv6 == .resolved)
    #expect(finding.ttl == .seconds(77))
    #expect(finding.servers == [IPAddress.loopback])
    #expect(finding.attempts == 2)
    #expect(!finding.isCached && !finding.isStale)
    #expect(queries.map(\.type).sorted() == [1, 28])
    #expect(queries.allSatisfy { $0.hasEDNS && $0.name == "www.example.test" })
  }

  @Test(
    "each response code is its own reason, at once", .timeLimit(.minutes(4)),
    arguments: [
      (2, .dnsServFail), (3, .dnsNXDomain), (4, .dnsNotImp), (5, .dnsRefused), (1, .dnsFormErr), (0, .dnsNoData),
    ] as [(UInt16, Reason)])
  func codes(code: UInt16, reason: Reason) async throws {
    let (finding, queries) = try await resolveOnce { .reply($0.answer([], code: code)) }
    #expect(finding.result == .failed(reason))
    #expect(finding.ipv4 == .failed(reason))
    #expect(finding.ipv6 == .failed(reason))
    #expect(queries.count == (code == 1 ? 4 : 2))
  }

  @Test("a server that knows no EDNS is asked without", .timeLimit(.minutes(4)))
  func noEDNS() async throws {
    let (finding, queries) = try await resolveOnce(families: [.ipv4]) { query in
      query.hasEDNS
        ? .reply(Wire.message(id: query.id, flags: 0x8001, question: nil)) : .reply(query.addresses(Self.both))
    }
    #expect(finding.addresses == [Self.address])
    #expect(queries.map(\.hasEDNS) == [true, false])
  }

  @Test("silence is a timeout by the deadline, after several queries", .timeLimit(.minutes(4)))
  func silence() async throws {
    let (finding, queries) = try await resolveOnce(within: .milliseconds(400)) { _ in .silence }
    #expect(finding.result == .failed(.dnsTimeout))
    #expect(finding.ipv4 == .failed(.dnsTimeout))
    #expect(finding.servers == [IPAddress.loopback])
    #expect(finding.attempts == queries.count)
    #expect(queries.count >= 2)
  }

  @Test("one lost datagram fails nothing", .timeLimit(.minutes(4)))
  func lostDatagram() async throws {
    let (finding, queries) = try await resolveOnce(families: [.ipv4]) { query in
      query.number == 0 ? .silence : .reply(query.addresses(Self.both))
    }
    #expect(finding.result == .resolved)
    #expect(finding.attempts == 2)
    #expect(queries.count == 2)
  }

  @Test("an AAAA query that is dropped does not hold up a good A", .timeLimit(.minutes(4)))
  func droppedFamily() async throws {
    let (finding, _) = try await resolveOnce({ $0.leastGrace = DNSOptions().leastGrace }) { query in
      query.type == 28 ? .silence : .reply(query.addresses(Self.both))
    }
    #expect(finding.result == .resolved)
    #expect(finding.addresses == [Self.address])
    #expect(finding.ipv6 == .failed(.dnsTimeout))
  }

  @Test("no data in one family and silence in the other is the silence", .timeLimit(.minutes(4)))
  func noDataAndSilence() async throws {
    let (finding, _) = try await resolveOnce(within: .milliseconds(300)) { query in
      query.type == 28 ? .reply(query.answer([])) : .silence
    }
    #expect(finding.result == .failed(.dnsTimeout))
    #expect(finding.ipv6 == .failed(.dnsNoData))
  }

  @Test("an answer with another number is a forgery: the true one behind it is waited for", .timeLimit(.minutes(4)))
  func wrongNumber() async throws {
    let (finding, _) = try await resolveOnce(families: [.ipv4]) { query in
      var forged = query.addresses([IPAddress(ipv4: 0x0102_0304)])
      forged[0] ^= 0xff
      return .replies([forged, query.addresses(Self.both)])
    }
    #expect(finding.addresses == [Self.address])
  }

  @Test("nothing but answers with another number is a timeout", .timeLimit(.minutes(4)))
  func onlyWrongNumbers() async throws {
    let (finding, _) = try await resolveOnce(families: [.ipv4], within: .milliseconds(300)) { query in
      var forged = query.addresses(Self.both)
      forged[0] ^= 0xff
      return .reply(forged)
    }
    #expect(finding.result == .failed(.dnsTimeout))
  }

  @Test("garbage, another question and aliases in a circle are malformed", .timeLimit(.minutes(4)))
  func malformed() async throws {
    let behaviours: [@Sendable (FakeNameServer.Query) -> [UInt8]] = [
      { $0.bytes[..<2] + [0x81, 0x80] + [UInt8](repeating: 0xff, count: 40) },
      { Wire.message(id: $0.id, flags: 0x8180, question: Wire.question("evil.test", 1)) },
      { $0.answer([Wire.alias(Wire.questionName, to: Wire.questionName, ttl: 1)]) },
      { Wire.message(id: $0.id, flags: 0x8180, question: $0.question, answerCount: 3) },
    ]
    for behaviour in behaviours {
      let (finding, queries) = try await resolveOnce(families: [.ipv4]) { .reply(behaviour($0)) }
      #expect(finding.result == .failed(.dnsMalformed))
      #expect(queries.count == 1)
    }
  }

  @Test("an empty datagram is passed over", .timeLimit(.minutes(4)))
  func emptyDatagram() async throws {
    let (finding, _) = try await resolveOnce(families: [.ipv4]) { .replies([[], $0.addresses(Self.both)]) }
    #expect(finding.result == .resolved)
  }

  @Test("what does not fit is asked for over TCP", .timeLimit(.minutes(4)))
  func truncated() async throws {
    let (finding, queries) = try await resolveOnce(families: [.ipv4]) { query in
      query.isTCP ? .reply(query.addresses(Self.both)) : .reply(query.answer([], flags: Wire.Flags.truncated))
    }
    #expect(finding.addresses == [Self.address])
    #expect(queries.map(\.isTCP) == [false, true])
  }

  @Test(
    "what does not fit and cannot be had over TCP is truncated: refused, closed, cut again", .timeLimit(.minutes(4)))
  func truncatedForGood() async throws {
    let truncate: @Sendable (FakeNameServer.Query) -> FakeNameServer.Action = {
      .reply($0.answer([], flags: Wire.Flags.truncated))
    }
    let (refused, _) = try await resolveOnce(families: [.ipv4], listensToTCP: false, { _ in }, truncate)
    #expect(refused.result == .failed(.dnsTruncated))
    let (cut, _) = try await resolveOnce(families: [.ipv4], { _ in }, truncate)
    #expect(cut.result == .failed(.dnsTruncated))
    let (closed, _) = try await resolveOnce(families: [.ipv4]) { query in
      query.isTCP ? .close : truncate(query)
    }
    #expect(closed.result == .failed(.dnsTruncated))
    let (silent, _) = try await resolveOnce(families: [.ipv4], within: .milliseconds(300)) { query in
      query.isTCP ? .silence : truncate(query)
    }
    #expect(silent.result == .failed(.dnsTruncated))
  }

  @Test("a closed port is an unreachable resolver, at once", .timeLimit(.minutes(4)))
  func closedPort() async throws {
    for transport in [QueryPlan.Transport.udp, .tcp] {
      let finding = try await withEventLoop { loop in
        let port = try TestPort(.closed)
        let closed = Nameserver(address: .loopback, port: port.number)
        let resolver = Resolver(options: options(closed) { $0.transport = transport }, loop: loop)
        return await resolver.resolve(on: loop)
      }
      #expect(finding.result == .failed(.dnsUnreachable))
      #expect(finding.servers == [IPAddress.loopback])
    }
  }

  @Test("TCP alone works, and one connection serves one burst", .timeLimit(.minutes(4)))
  func tcpAlone() async throws {
    let (finding, queries) = try await resolveOnce({ $0.transport = .tcp }) { .reply($0.addresses(Self.both)) }
    #expect(finding.addresses == Self.both)
    #expect(queries.map(\.isTCP) == [true, true])
  }

  @Test("a connection closed without an answer is a failure for now", .timeLimit(.minutes(4)))
  func tcpClosed() async throws {
    let (finding, _) = try await resolveOnce(families: [.ipv4], { $0.transport = .tcp }) { _ in .close }
    #expect(finding.result == .failed(.dnsTransient))
  }

  @Test(
    "the next server answers for one that fails, is silent or is not there", .timeLimit(.minutes(4)),
    arguments: ["servfail", "refused", "silent", "closed", "garbage"])
  func nextServer(kind: String) async throws {
    let (finding, ports) = try await withEventLoop { loop in
      let good = try FakeNameServer(loop) { .reply($0.addresses(Self.both)) }
      let bad = try FakeNameServer(loop) { query in
        switch kind {
        case "servfail": .reply(query.answer([], code: 2))
        case "refused": .reply(query.answer([], code: 5))
        case "garbage": .reply(Array(query.bytes[..<2]) + [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
        default: .silence
        }
      }
      defer {
        good.stop()
        bad.stop()
      }
      let port = try TestPort(.closed)
      let first = kind == "closed" ? Nameserver(address: .loopback, port: port.number) : bad.endpoint
      // Each is asked once, however long a slow machine takes to read the answer.
      let resolver = Resolver(options: options(first, good.endpoint, families: [.ipv4]) { $0.tries = 1 }, loop: loop)
      return (await resolver.resolve(within: .seconds(4), on: loop), good.queries.count)
    }
    #expect(finding.result == .resolved)
    #expect(finding.addresses == [Self.address])
    #expect(ports == 1)
  }

  @Test("what every server says no to is the most telling of it", .timeLimit(.minutes(4)))
  func everyServerFails() async throws {
    let finding = try await withEventLoop { loop in
      let first = try FakeNameServer(loop) { .reply($0.answer([], code: 5)) }
      let second = try FakeNameServer(loop) { .reply($0.answer([], code: 2)) }
      defer {
        first.stop()
        second.stop()
      }
      let resolver = Resolver(options: options(first.endpoint, second.endpoint), loop: loop)
      return await resolver.resolve(on: loop)
    }
    #expect(finding.result == .failed(.dnsServFail))
  }
}
