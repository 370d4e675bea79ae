import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import RouteProbe
import Synchronization
import Testing

/// The probe as the framework sees it.
@Suite(.enabled(if: canStage, whyNot)) struct RouteProbeTests {
  @Test("the route probe conforms", .timeLimit(.minutes(4)))
  func conformance() async throws {
    let violations = try await conformanceViolations(of: RouteProbe.registration) { _, stage in
      _ = try stage.stageGateway()
      let several = [Candidate(remote), Candidate(remote6), Candidate(.loopback), Candidate("224.0.0.1")]
      return [
        ConformanceCase("addresses", target: Target(name: "a", kind: .address(remote)), candidates: several),
        ConformanceCase("nothing", target: Target(name: "n", kind: .address(remote)), candidates: []),
        ConformanceCase(
          "a pair", target: Target(name: "p", kind: .pair(local: "192.0.2.77", remote: remote)),
          candidates: [Candidate(remote)]),
        ConformanceCase(
          "the default path", target: Target(name: "d", kind: .defaultPath), candidates: DefaultPathTests.candidates),
      ]
    }
    #expect(violations == [])
  }

  @Test("what was found is told to whoever listens", .timeLimit(.minutes(4)))
  func log() async throws {
    let lines = try await withGateway { _, ask, _ in
      let log = Lines()
      let context = ProbeContext(
        host: ask.host, deadline: .distantFuture, candidates: [Candidate(remote), Candidate("224.0.0.1")], log: log)
      _ = try await RouteProbe().probe(Target(name: "t", kind: .address(remote)), in: context)
      return log.all.withLock { $0 }
    }
    #expect(
      lines == [
        "route to 203.0.113.9: unicast via 192.0.2.254 dev veth0 src 192.0.2.1 table 254",
        "route to 224.0.0.1: refused, no_route",
      ])
  }
}

private final class Lines: ProbeLog {
  let all = Mutex<[String]>([])
  func note(_ line: String) { all.withLock { $0.append(line) } }
}
