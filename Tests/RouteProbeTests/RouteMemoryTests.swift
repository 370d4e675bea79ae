import ReachCore
import ReachIO
import ReachNetlink
import ReachProbe
import ReachTestSupport
import Testing

@testable import RouteProbe

/// That an answer is believed for as long as the kernel tells of no change, and no longer.
@Suite(.enabled(if: canStage, whyNot)) struct RouteMemoryTests {
  private static let target = Target(name: "target", kind: .address(remote))

  /// The finding of one first look at the remote address.
  private static func look(
    _ probe: RouteProbe, _ host: ProbeHost, at candidate: Candidate = Candidate(remote), for target: Target = target
  ) async throws -> RouteFinding {
    guard case .route(let findings) = try await probe.probe(target, in: host.context([candidate])),
      let finding = findings.first
    else { throw NoRouteEvidence() }
    return finding
  }

  @Test("while nothing changes the kernel is asked once", .timeLimit(.minutes(4)))
  func quiet() async throws {
    let (asked, same) = try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let host = try ProbeHost.onThisLoop(loop)
      let probe = RouteProbe(RouteMemory(host))
      let first = try await Self.look(probe, host)
      let before = host.netlink.counters.requests
      let second = try await Self.look(probe, host)
      return (host.netlink.counters.requests - before, first == second && first.decision == .unicast)
    }
    #expect(asked == 0)
    #expect(same)
  }

  @Test("a second look in the same round, and a bound lookup, ask the kernel", .timeLimit(.minutes(4)))
  func fresh() async throws {
    let asked = try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let host = try ProbeHost.onThisLoop(loop)
      let probe = RouteProbe(RouteMemory(host))
      let first = try await Self.look(probe, host)
      let bound = Target(name: "bound", kind: .address(remote), source: SourceBinding(mark: 7))
      var asked: [Bool] = []
      for (candidate, target) in [(Candidate(remote, route: first), Self.target), (Candidate(remote), bound)] {
        let before = host.netlink.counters.requests
        _ = try await Self.look(probe, host, at: candidate, for: target)
        asked.append(host.netlink.counters.requests > before)
      }
      return asked
    }
    #expect(asked == [true, true])
  }

  @Test("a change that the kernel tells of is seen by the next look", .timeLimit(.minutes(4)))
  func change() async throws {
    let decisions = try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let host = try ProbeHost.onThisLoop(loop)
      let probe = RouteProbe(RouteMemory(host))
      let inbox = ChangeInbox(host.links, on: loop)
      var decisions = [try await Self.look(probe, host).decision]
      for change in ["route add blackhole \(remote)", "route del blackhole \(remote)", "route del default"] {
        inbox.clear()
        try stage.ip(change)
        try await inbox.until { inbox.kinds.contains(.route) }
        decisions.append(try await Self.look(probe, host).decision)
      }
      return decisions
    }
    #expect(decisions == [.unicast, .refused(.routeBlackhole), .unicast, .refused(.noRoute)])
  }

  @Test("a rule about a port decides for targets with that port, and for no others", .timeLimit(.minutes(4)))
  func ports() async throws {
    let decisions = try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      try stage.ip("rule add priority 10 ipproto tcp dport 80 prohibit")
      let host = try ProbeHost.onThisLoop(loop)
      let probe = RouteProbe(RouteMemory(host))
      var decisions: [RouteFinding.Decision] = []
      for port: UInt16? in [443, 80, nil, 443] {
        let target = Target(name: "target", kind: .address(remote), port: port)
        decisions.append(try await Self.look(probe, host, for: target).decision)
      }
      return decisions
    }
    #expect(decisions == [.unicast, .refused(.routeProhibit), .unicast, .unicast])
  }

  @Test("an answer is not believed for longer than five seconds", .timeLimit(.minutes(4)))
  func age() async throws {
    let (young, old) = try await withEventLoop { loop in
      let memory = RouteMemory(try ProbeHost.onThisLoop(loop))
      let start = loop.now()
      memory.keep(RouteFinding(.unicast), for: remote, port: nil, at: start)
      return (
        memory.finding(for: remote, port: nil, at: start.advanced(by: .seconds(4))),
        memory.finding(for: remote, port: nil, at: start.advanced(by: .seconds(5)))
      )
    }
    #expect(young?.decision == .unicast)
    #expect(old == nil)
  }

  @Test("an IPv6 answer is not remembered, since its route may run out unannounced", .timeLimit(.minutes(4)))
  func expiring() async throws {
    let kept = try await withEventLoop { loop in
      let memory = RouteMemory(try ProbeHost.onThisLoop(loop))
      memory.keep(RouteFinding(.unicast), for: remote6, port: nil, at: loop.now())
      return memory.finding(for: remote6, port: nil, at: loop.now())
    }
    #expect(kept == nil)
  }

  @Test("a broken path is not remembered", .timeLimit(.minutes(4)))
  func broken() async throws {
    let kept = try await withEventLoop { loop in
      let memory = RouteMemory(try ProbeHost.onThisLoop(loop))
      for finding in [
        RouteFinding(.refused(.noRoute)), RouteFinding(.fault(FaultCode(errno: 24))),
        RouteFinding(.unicast, isNeighbourFailed: true),
      ] {
        memory.keep(finding, for: remote, port: nil, at: loop.now())
      }
      return memory.finding(for: remote, port: nil, at: loop.now())
    }
    #expect(kept == nil)
  }
}
