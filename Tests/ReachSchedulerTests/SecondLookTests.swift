import ReachCore
import ReachIO
import ReachProbe
import ReachScheduler
import ReachTestSupport
import Synchronization
import Testing

@Suite(.timeLimit(.minutes(4))) struct SecondLookTests {
  /// A route backend whose answer turns from the first call to the next.
  private static func turning(_ first: RouteFinding, _ then: RouteFinding) -> ScriptedBackend {
    let isFirst = Mutex(true)
    return ScriptedBackend { (_, context) throws(LocalFault) in
      let finding = isFirst.withLock { first in
        defer { first = false }
        return first
      }
      return .route(context.candidates.map { _ in finding ? first : then })
    }
  }

  private static let onLink = RouteFinding(.unicast, interfaceIndex: 2, interface: "eth0", isOnLink: true)
  private static let silent = RouteFinding(
    .unicast, interfaceIndex: 2, interface: "eth0", isOnLink: true, isNeighbourFailed: true)

  private func round(_ tcp: TCPFinding.Result, _ route: ScriptedBackend, _ link: ScriptedBackend) async throws
    -> RoundReport
  {
    try await withEventLoop { loop in
      let runner = RoundRunner(
        target: .web, probes: [.route(route), .link(link), .tcp(.tcp(tcp))], host: try testHost(on: loop))
      return await runner.runOnce()
    }
  }

  @Test(
    "a neighbour that proved dead while the connection waited is seen in the same round",
    arguments: [
      TCPFinding.Result.failed(.tcpTimeout), .failed(.tcpHostUnreachable),
    ])
  func neighbour(result: TCPFinding.Result) async throws {
    let route = Self.turning(Self.onLink, Self.silent)
    let report = try await round(result, route, .link())
    #expect(report.findings.candidates.first?.route == Self.silent)
    #expect(report.runs.map(\.probe) == ["route", "link", "tcp"])
    #expect(route.calls.count == 2)
  }

  @Test("what answered is not looked at again", arguments: [TCPFinding.Result.open, .failed(.tcpRefused)])
  func answered(result: TCPFinding.Result) async throws {
    let (route, link) = (Self.turning(Self.onLink, Self.silent), ScriptedBackend.link())
    let report = try await round(result, route, link)
    #expect(report.findings.candidates.first?.route == Self.onLink)
    #expect(route.calls.count == 1 && link.calls.count == 1)
  }

  @Test("a second look that fails leaves what the first one saw")
  func failing() async throws {
    let isFirst = Mutex(true)
    let route = ScriptedBackend { (_, context) throws(LocalFault) in
      guard
        isFirst.withLock({ first in
          defer { first = false }; return first
        })
      else { throw LocalFault(errno: 24) }
      return .route(context.candidates.map { _ in Self.onLink })
    }
    let report = try await round(.failed(.tcpTimeout), route, .link())
    #expect(report.findings.candidates.first?.route == Self.onLink)
    #expect(report.findings.fault == nil)
  }
}
