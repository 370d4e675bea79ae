import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import DNSProbe

@Suite struct DNSProbeTests {
  static func target(_ name: String) -> Target {
    Target(name: name, kind: .host(HostName(query: name, display: name)))
  }

  @Test(
    "it stands what every backend must stand",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
  func conformance() async throws {
    let violations = try await conformanceViolations(of: DNSProbe.registration) { loop, _ in
      let server = try FakeNameServer(loop) { query in
        query.name == "silent.test" ? .silence : .reply(query.addresses(["192.0.2.1", "2001:db8::1"]))
      }
      let closed = try TestPort(.closed)
      func situation(_ name: String, _ port: UInt16, _ holding: any Sendable) -> ConformanceCase {
        ConformanceCase(
          name, target: Self.target(name), candidates: [],
          options: OptionValues(["server": .endpoint(OptionEndpoint(address: .loopback, port: port))]),
          holding: [holding])
      }
      return [
        situation("good.test", server.port, server), situation("silent.test", server.port, server),
        situation("closed.test", closed.number, closed),
      ]
    }
    #expect(violations == [])
  }

  @Test("a target without a name has nothing to resolve", .timeLimit(.minutes(4)))
  func otherTargets() async throws {
    let reason = try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      let probe = try DNSProbe.registration.make(OptionValues(), host)
      do {
        _ = try await probe.probe(Target(name: "d", kind: .defaultPath), in: host.context([]))
        return Reason.notProbed.description + " was not thrown"
      } catch {
        return "\((error as? LocalFault)?.reason ?? .probeError(.interrupted))"
      }
    }
    #expect(reason == "not_probed")
  }

  @Test("what is done is told to whoever listens", .timeLimit(.minutes(4)))
  func notes() async throws {
    let log = NoteKeeper()
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { query in
        query.isTCP
          ? .reply(query.addresses(["192.0.2.1"], ttl: 30)) : .reply(query.answer([], flags: Wire.Flags.truncated))
      }
      defer { server.stop() }
      let resolver = Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop)
      _ = await resolver.resolve(on: loop, log: log)
    }
    let text = log.lines.joined(separator: "\n")
    for part in [
      "for www.example.test A over udp", "A truncated", "A over tcp, again", "A 192.0.2.1, TTL 30 s",
      "www.example.test: resolved to 192.0.2.1",
    ] {
      #expect(text.contains(part), "\(text)")
    }
  }
}
