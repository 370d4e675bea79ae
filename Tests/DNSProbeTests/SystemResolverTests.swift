import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import DNSProbe

/// The system's files: resolv.conf(5) and hosts(5), of the test's own making.
@Suite struct SystemResolverTests {
  static let address: IPAddress = "192.0.2.1"

  static func paths(_ directory: TemporaryDirectory) -> SystemFiles.Paths {
    SystemFiles.Paths(
      resolverConfiguration: directory.path + "/resolv.conf", hosts: directory.path + "/hosts", patience: .zero)
  }

  @Test("without a name server it is this host's fault, which says what to do", .timeLimit(.minutes(4)))
  func noServer() async throws {
    let directory = try TemporaryDirectory()
    let finding = try await withEventLoop { loop in
      await Resolver(options: DNSOptions(), loop: loop, paths: Self.paths(directory)).resolve(on: loop)
    }
    guard case .fault(let fault) = finding.result else {
      Issue.record("the result is \(finding.result)")
      return
    }
    #expect(fault.reason == .resolverConfig)
    #expect(fault.detail.contains("nameserver"))
  }

  @Test("the hosts file answers before any server is asked, by family", .timeLimit(.minutes(4)))
  func hosts() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("hosts", "192.0.2.1 web\n192.0.2.2 web.example.test web\n2001:db8::1 six\n")
    let findings = try await withEventLoop { loop in
      let resolver = Resolver(options: DNSOptions(), loop: loop, paths: Self.paths(directory))
      return [await resolver.resolve("web", on: loop), await resolver.resolve("six", on: loop)]
    }
    #expect(findings[0].result == .resolved)
    #expect(findings[0].addresses == ["192.0.2.1", "192.0.2.2"])
    #expect(findings[0].ipv6 == .failed(.dnsNoData))
    #expect(findings[0].ttl == nil)
    #expect(findings[0].attempts == 0)
    #expect(findings[1].addresses == ["2001:db8::1"])
  }

  @Test("a named server is asked although the hosts file lists the name", .timeLimit(.minutes(4)))
  func hostsPassedOver() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("hosts", "192.0.2.99 www.example.test\n")
    let finding = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint), loop: loop, paths: Self.paths(directory))
      return await resolver.resolve(on: loop)
    }
    #expect(finding.addresses == [Self.address])
  }

  @Test("localhost and what is below it is this host, and never asked for", .timeLimit(.minutes(4)))
  func localhost() async throws {
    let directory = try TemporaryDirectory()
    let findings = try await withEventLoop { loop in
      let resolver = Resolver(options: DNSOptions(), loop: loop, paths: Self.paths(directory))
      return [await resolver.resolve("localhost", on: loop), await resolver.resolve("db.localhost", on: loop)]
    }
    for finding in findings { #expect(finding.addresses == [.loopback6, .loopback]) }
  }

  @Test("names are absolute unless the target asks for the search list", .timeLimit(.minutes(4)))
  func search() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("resolv.conf", "search one.test two.test\n")
    let names = try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { query in
        .reply(query.name == "db.two.test" ? query.addresses([Self.address]) : query.answer([], code: 3))
      }
      defer { server.stop() }
      let resolver = Resolver(
        options: options(server.endpoint, families: [.ipv4]), loop: loop, paths: Self.paths(directory))
      _ = await resolver.resolve("db", on: loop)
      var policy = TargetPolicy()
      policy.search = true
      let found = await resolver.resolve("db", on: loop, policy: policy)
      return (found.addresses, server.queries.map(\.name))
    }
    #expect(names.0 == [Self.address])
    #expect(names.1 == ["db", "db.one.test", "db.two.test"])
  }

  @Test(
    "a change of the configuration is seen in the next round, and old answers are not used", .timeLimit(.minutes(4)))
  func change() async throws {
    // The file can name no port, so this needs port 53, in a network of its own.
    guard NamespaceSupport.isAvailable else { return }
    let directory = try TemporaryDirectory()
    try directory.write("resolv.conf", "nameserver 127.0.0.77\n")
    let findings = try await withNetworkNamespace { loop, _ in
      let server = try FakeNameServer(loop, port: 53) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      let resolver = Resolver(options: DNSOptions(), loop: loop, paths: Self.paths(directory))
      let refused = await resolver.resolve(on: loop)
      try directory.write("resolv.conf", "nameserver 127.0.0.1\n")
      let good = await resolver.resolve(on: loop)
      let kept = await resolver.resolve(on: loop)
      try directory.write("resolv.conf", "nameserver 127.0.0.1\n# changed\n")
      return [refused, good, kept, await resolver.resolve(on: loop)]
    }
    #expect(findings[0].result == .failed(.dnsUnreachable))
    #expect(findings[1].addresses == [Self.address])
    #expect(findings.map(\.isCached) == [false, false, true, false])
  }

  @Test(
    "a question that is under way to a server of before is not shared, and its late answer is not kept",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
  func outdatedQuestion() async throws {
    let directory = try TemporaryDirectory()
    try directory.write("resolv.conf", "nameserver 127.0.0.77\n")
    let (old, findings) = try await withNetworkNamespace { loop, _ in
      let silent = try FakeNameServer(loop, on: "127.0.0.77", port: 53) { _ in .silence }
      let server = try FakeNameServer(loop, port: 53) { .reply($0.addresses([Self.address])) }
      defer {
        silent.stop()
        server.stop()
      }
      let resolver = Resolver(options: DNSOptions(), loop: loop, paths: Self.paths(directory))
      let first = loop.spawn { _ = await resolver.resolve(within: .milliseconds(300), on: loop) }
      while silent.queries.isEmpty { await loop.sleep(until: loop.now().advanced(by: .milliseconds(1))) }
      try directory.write("resolv.conf", "nameserver 127.0.0.1\n")
      let good = await resolver.resolve(on: loop)
      await first.value
      return (silent.queries.count, [good, await resolver.resolve(on: loop)])
    }
    #expect(old > 0)
    #expect(findings.map(\.addresses) == [[Self.address], [Self.address]])
    #expect(findings.map(\.servers) == [["127.0.0.1"], []])
    #expect(findings.map(\.isCached) == [false, true])
  }
}
