import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Synchronization
import Testing

@testable import DNSProbe

/// What is kept of an answer, and when it is used.
@Suite struct KeptAnswerTests {
  static let both: [IPAddress] = ["2001:db8::1", "192.0.2.1"]

  /// Answers until told to do something else.
  final class Switch: Sendable {
    private let code = Mutex<UInt16?>(0)
    func set(_ value: UInt16?) { code.withLock { $0 = value } }
    func action(_ query: FakeNameServer.Query, ttl: UInt32 = 300) -> FakeNameServer.Action {
      guard let code = code.withLock({ $0 }) else { return .silence }
      return .reply(code == 0 ? query.addresses(KeptAnswerTests.both, ttl: ttl) : query.answer([], code: code))
    }
  }

  @Test("an answer is used again without a query until its TTL has passed", .timeLimit(.minutes(4)))
  func reuse() async throws {
    let clock = ManualClock()
    let (findings, queries) = try await withEventLoop(clock: clock) { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses(Self.both, ttl: 60)) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint) { $0.usesCache = true }, loop: loop)
      var findings = [await resolver.resolve(on: loop)]
      clock.advance(by: .seconds(59))
      findings.append(await resolver.resolve("WWW.example.test", on: loop))
      clock.advance(by: .seconds(1))
      findings.append(await resolver.resolve(on: loop))
      return (findings, server.queries.count)
    }
    #expect(findings.map(\.isCached) == [false, true, false])
    #expect(findings.map(\.addresses) == [Self.both, Self.both, Self.both])
    #expect(findings.map(\.attempts) == [2, 0, 2])
    #expect(findings[1].servers.isEmpty)
    #expect(queries == 4)
  }

  @Test("with `cache: false` each round asks", .timeLimit(.minutes(4)))
  func noReuse() async throws {
    let queries = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses(Self.both)) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop)
      for _ in 0..<3 { _ = await resolver.resolve(on: loop) }
      return server.queries.count
    }
    #expect(queries == 3)
  }

  @Test("targets of one name ask once together", .timeLimit(.minutes(4)))
  func coalescing() async throws {
    let (findings, queries) = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses(Self.both)) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint), loop: loop)
      let findings = await withTaskGroup(of: DNSFinding.self) { group in
        for _ in 0..<100 { group.addTask(executorPreference: loop) { await resolver.resolve(on: loop) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
      return (findings, server.queries.count)
    }
    #expect(findings.count == 100)
    #expect(findings.allSatisfy { $0.addresses == Self.both })
    #expect(queries == 2)
  }

  @Test("each of those who wait together has its own deadline", .timeLimit(.minutes(4)))
  func ownDeadlines() async throws {
    let (short, long) = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { query in
        query.number < 4 ? .silence : .reply(query.addresses(Self.both))
      }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]) { $0.tries = 10 }, loop: loop)
      async let short = resolver.resolve(within: .milliseconds(60), on: loop)
      async let long = resolver.resolve(within: .seconds(20), on: loop)
      return await (short, long)
    }
    #expect(short.result == .failed(.dnsTimeout))
    #expect(long.result == .resolved)
  }

  @Test(
    "while the resolver fails the last answer stands in, and the failure is told", .timeLimit(.minutes(4)),
    arguments: [(2, .dnsServFail), (5, .dnsRefused), (nil, .dnsTimeout)] as [(UInt16?, Reason)])
  func stale(code: UInt16?, reason: Reason) async throws {
    let finding = try await withEventLoop { loop in
      let behaviour = Switch()
      let server = try FakeNameServer(loop) { behaviour.action($0) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint), loop: loop)
      _ = await resolver.resolve(on: loop)
      behaviour.set(code)
      return await resolver.resolve(within: .milliseconds(300), on: loop)
    }
    #expect(finding.result == .failed(reason))
    #expect(finding.isStale)
    #expect(finding.addresses == Self.both)
    #expect(finding.ttl == nil)
  }

  @Test(
    "with an older answer at hand a silent resolver leaves time to connect, and is heard later", .timeLimit(.minutes(4))
  )
  func leavesTime() async throws {
    let (isEarly, stale, later) = try await withEventLoop { loop in
      let behaviour = Switch()
      let server = try FakeNameServer(loop) { behaviour.action($0) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint), loop: loop)
      _ = await resolver.resolve(on: loop)
      behaviour.set(nil)
      let deadline = loop.now().advanced(by: .seconds(4))
      let stale = await resolver.resolve(within: .seconds(4), on: loop)
      let isEarly = loop.now() < deadline
      behaviour.set(0)
      return (isEarly, stale, await resolver.resolve(on: loop))
    }
    #expect(isEarly)
    #expect(stale.result == .failed(.dnsTimeout) && stale.isStale && stale.addresses == Self.both)
    #expect(later.result == .resolved && !later.isStale)
  }

  @Test("a name that has gone leaves nothing to stand in", .timeLimit(.minutes(4)), arguments: [3, 0] as [UInt16])
  func gone(code: UInt16) async throws {
    let findings = try await withEventLoop { loop in
      let behaviour = Switch()
      let empty = Mutex(false)
      let server = try FakeNameServer(loop) { query in
        empty.withLock { $0 } ? .reply(query.answer([], code: code)) : behaviour.action(query)
      }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint), loop: loop)
      _ = await resolver.resolve(on: loop)
      empty.withLock { $0 = true }
      let negative = await resolver.resolve(on: loop)
      empty.withLock { $0 = false }
      behaviour.set(2)
      return [negative, await resolver.resolve(on: loop)]
    }
    #expect(findings.map(\.isStale) == [false, false])
    #expect(findings.map(\.addresses) == [[], []])
    #expect(findings[0].result == .failed(code == 3 ? .dnsNXDomain : .dnsNoData))
  }

  @Test("a family that does not answer once keeps the addresses it had", .timeLimit(.minutes(4)))
  func partial() async throws {
    let finding = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { query in
        query.type == 28 && query.number > 1 ? .silence : .reply(query.addresses(Self.both))
      }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint), loop: loop)
      _ = await resolver.resolve(on: loop)
      return await resolver.resolve(within: .seconds(1), on: loop)
    }
    #expect(finding.result == .resolved)
    #expect(finding.ipv6 == .failed(.dnsTimeout))
    #expect(finding.addresses == Self.both)
    #expect(!finding.isStale)
  }

  @Test("an answer that is there when the deadline is found to have passed counts", .timeLimit(.minutes(4)))
  func starved() async throws {
    let clock = ManualClock()
    let finding = try await withEventLoop(clock: clock) { loop in
      let server = try FakeNameServer(loop) { query in
        // The time is over while the answer is on its way, as for a process that did not get to run.
        defer { clock.advance(by: .seconds(30)) }
        return .reply(query.addresses(Self.both))
      }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop)
      return await resolver.resolve(on: loop)
    }
    #expect(finding.result == .resolved)
  }

  @Test("at most 64 addresses are handed on, of both families, none twice, in an order that no answer changes")
  func bounded() {
    let many = (0..<100).map { IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: $0) }
    let few = (0..<3).map { IPAddress(ipv4: 0xc000_0200 + $0) }
    let mixed = DNSFinding.ordered(few + many.reversed() + few)
    #expect(mixed == Array(many.prefix(61)) + few)
    #expect(DNSFinding.ordered(many.shuffled()) == Array(many.prefix(64)))
    let manyIPv4 = (0..<100).map { IPAddress(ipv4: 0xc000_0200 + $0) }
    #expect(DNSFinding.ordered(manyIPv4.shuffled() + many) == Array(many.prefix(32)) + manyIPv4.prefix(32))
  }
}
