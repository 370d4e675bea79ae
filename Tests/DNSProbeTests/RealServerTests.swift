import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import DNSProbe

/// Against a real name server.
@Suite(
  // The server is Debian's package nsd; where every test must run, a missing one fails.
  .enabled(if: NSDServer.isInstalled || TestRequirements.areAllRequired, "needs nsd"))
struct RealServerTests {
  static let zone = """
    $ORIGIN reachd.test.
    $TTL 3600
    @       IN SOA  ns hostmaster 1 3600 600 86400 60
    @       IN NS   ns
    ns      IN A    127.0.0.1
    www 300 IN A    192.0.2.1
    www 300 IN A    192.0.2.2
    www 120 IN AAAA 2001:db8::1
    alias 60 IN CNAME step
    step 90 IN CNAME www
    dangling IN CNAME nothing
    outside IN CNAME www.elsewhere.test.
    loop1   IN CNAME loop2
    loop2   IN CNAME loop1
    only4   IN A    192.0.2.4
    only6   IN AAAA 2001:db8::6
    text    IN TXT  "no address"
    _under  IN A    192.0.2.5
    *.wild  IN A    192.0.2.6
    child   IN NS   ns.child
    ns.child IN A   192.0.2.7
    \((0..<200).map { "many IN A 198.51.100.\($0)" }.joined(separator: "\n"))

    """

  @Test("each kind of name of a real zone comes out as what it is", .timeLimit(.minutes(4)))
  func zone() async throws {
    let names = [
      "www", "alias", "dangling", "outside", "loop1", "only4", "only6", "text", "_under", "a.wild", "x.child", "none",
      "WWW",
    ]
    let found = try await withEventLoop { loop in
      let server = try await NSDServer(zone: "reachd.test", Self.zone, loop: loop)
      let resolver = Resolver(options: options(server.endpoint), loop: loop)
      var found: [String: DNSFinding] = [:]
      for name in names { found[name] = await resolver.resolve(name + ".reachd.test", on: loop) }
      found["foreign"] = await resolver.resolve("www.foreign.test", on: loop)
      return found
    }
    func expect(_ name: String, _ result: DNSFinding.Result, _ addresses: [IPAddress] = [], ttl: Int64? = nil) {
      #expect(found[name]?.result == result, "\(name)")
      #expect(Set(found[name]?.addresses ?? []) == Set(addresses), "\(name)")
      #expect(found[name]?.ttl == ttl.map { .seconds($0) }, "\(name)")
    }
    let www: [IPAddress] = ["2001:db8::1", "192.0.2.1", "192.0.2.2"]
    expect("www", .resolved, www, ttl: 120)
    expect("WWW", .resolved, www, ttl: 120)
    expect("alias", .resolved, www, ttl: 60)
    expect("only4", .resolved, ["192.0.2.4"], ttl: 3600)
    expect("only6", .resolved, ["2001:db8::6"], ttl: 3600)
    expect("_under", .resolved, ["192.0.2.5"], ttl: 3600)
    expect("a.wild", .resolved, ["192.0.2.6"], ttl: 3600)
    expect("none", .failed(.dnsNXDomain))
    expect("dangling", .failed(.dnsNXDomain))
    expect("text", .failed(.dnsNoData))
    expect("outside", .failed(.dnsNoData))
    expect("loop1", .failed(.dnsMalformed))
    expect("x.child", .failed(.dnsTransient))
    expect("foreign", .failed(.dnsRefused))
    #expect(found["only4"]?.ipv6 == .failed(.dnsNoData))
    #expect(found["only6"]?.ipv4 == .failed(.dnsNoData))
  }

  @Test("an answer that does not fit into a datagram is had over TCP", .timeLimit(.minutes(4)))
  func large() async throws {
    let (finding, lines) = try await withEventLoop { loop in
      let server = try await NSDServer(zone: "reachd.test", Self.zone, loop: loop)
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop)
      let log = NoteKeeper()
      return (await resolver.resolve("many.reachd.test", on: loop, log: log), log.lines)
    }
    #expect(finding.result == .resolved)
    #expect(finding.addresses.count == 64)
    #expect(lines.contains { $0.contains("truncated") })
    #expect(lines.contains { $0.contains("200 addresses, 64 of them used") }, "\(lines)")
  }

  @Test("thousands of queries go over a few sockets, all answered", .timeLimit(.minutes(4)))
  func many() async throws {
    let (resolved, channels) = try await withEventLoop { loop in
      let server = try await NSDServer(zone: "reachd.test", Self.zone, loop: loop)
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop)
      var resolved = 0
      for round in 0..<20 {
        resolved += await withTaskGroup(of: Bool.self) { group in
          for number in 0..<100 {
            group.addTask(executorPreference: loop) {
              await resolver.resolve("n\(round)-\(number).wild.reachd.test", on: loop).result == .resolved
            }
          }
          return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
      }
      return (resolved, resolver.openChannelCount)
    }
    #expect(resolved == 2000)
    #expect(channels <= 2)
  }
}
