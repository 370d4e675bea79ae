import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import TCPProbe

@Suite(.timeLimit(.minutes(4))) struct ConnectPlanTests {
  @Test("an address that cannot be reached anyway is passed over, and so is what is no address of the target")
  func passedOver() async throws {
    let usable = LinkFinding(interface: "lo", index: 1, medium: .loopback, state: .usable)
    let broken = LinkFinding(interface: "eth0", index: 2, medium: .wired, state: .noCarrier)
    let candidates = [
      Candidate(nil),
      Candidate("192.0.2.1", role: .resolverPath),
      Candidate("192.0.2.2", route: RouteFinding(.refused(.noRoute))),
      Candidate("192.0.2.3", route: RouteFinding(.fault(FaultCode(errno: ENOBUFS)))),
      Candidate("192.0.2.4", route: .leaving, link: broken),
      Candidate("192.0.2.5", route: .leaving, link: usable),
      Candidate("192.0.2.6"),
    ]
    let tried = try await plan(.address("192.0.2.1"), candidates) { $0.entries.map(\.index) }
    #expect(tried == [5, 6])
  }

  @Test(
    "nothing is sent for a target that is a path or an interface",
    arguments: [Target.Kind.defaultPath, .interface("eth0"), .linkLocal(interface: "eth0")])
  func silentKinds(kind: Target.Kind) async throws {
    #expect(try await plan(kind, [Candidate("192.0.2.1", route: .leaving)]) { $0.entries.isEmpty })
  }

  @Test("the unspecified address is nobody's, although Linux would connect to this host")
  func unspecified() async throws {
    let results = try await plan(.address("0.0.0.0"), [Candidate("0.0.0.0"), Candidate("::")]) {
      $0.entries.isEmpty ? $0.findings.map(\.result) : []
    }
    #expect(results == [.failed(.tcpHostUnreachable), .failed(.tcpHostUnreachable)])
  }

  @Test("a pair connects from its local half, unless the target names a source")
  func pairs() async throws {
    let kind = Target.Kind.pair(local: "127.0.0.2", remote: "127.0.0.1")
    let own = try await plan(kind, [Candidate("127.0.0.1")]) { $0.binding.address?.address }
    #expect(own == "127.0.0.2")
    let source = SourceBinding(address: "127.0.0.3")
    let named = try await plan(kind, [Candidate("127.0.0.1")], source) { $0.binding.address?.address }
    #expect(named == "127.0.0.3")
  }

  @Test("an address of the other family than the source is passed over")
  func families() async throws {
    let source = SourceBinding(address: "192.0.2.1")
    let tried = try await plan(.address("192.0.2.9"), [Candidate("2001:db8::1"), Candidate("192.0.2.9")], source) {
      $0.entries.map(\.index)
    }
    #expect(tried == [1])
  }

  @Test("a zone is an interface's name or number, and one that is neither is no device")
  func zones() async throws {
    let zones = ["lo", "1", "no-such-device"]
    let candidates = zones.map { Candidate(IPAddress(ipv6High: 0xfe80 << 48, low: 1, zone: $0)) }
    let (scopes, last) = try await plan(.address("fe80::1%lo"), candidates) {
      ($0.entries.map(\.peer.scope), $0.findings.last?.result)
    }
    #expect(scopes == [unsafe if_nametoindex("lo"), 1])
    #expect(last == .refusedLocally(FaultCode(errno: ENODEV)))
  }

  private func plan<Value: Sendable>(
    _ kind: Target.Kind, _ candidates: [Candidate], _ source: SourceBinding = SourceBinding(),
    _ read: @escaping @Sendable (ConnectPlan) -> Value
  ) async throws -> Value {
    try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      let target = Target(name: "target", kind: kind, port: 80, source: source)
      return read(ConnectPlan(target: target, port: 80, candidates: candidates, links: host.links))
    }
  }
}
