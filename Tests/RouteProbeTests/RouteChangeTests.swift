import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

/// That a lookup sees what the kernel sends no message about.
@Suite(.enabled(if: canStage, whyNot)) struct RouteChangeTests {
  @Test("without carrier the route stands, unless the kernel is told to ignore it (K5, K6)", .timeLimit(.minutes(4)))
  func carrier() async throws {
    let decisions = try await withGateway { stage, ask, gateway in
      try gateway.ip("link set veth1 down")
      try stage.host.awaitLink("veth0", showing: "NO-CARRIER", "state DOWN")
      let kept = try await ask.decision(remote)
      try stage.set("ipv4/conf/all/ignore_routes_with_linkdown", to: "1")
      try stage.set("ipv4/conf/veth0/ignore_routes_with_linkdown", to: "1")
      return [kept, try await ask.decision(remote)]
    }
    #expect(decisions == [.unicast, .refused(.noRoute)])
  }

  @Test("setting an interface down takes its routes, and up does not bring them back (K7, K8)", .timeLimit(.minutes(4)))
  func down() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("link set veth0 down")
      let down = [try await ask.decision(remote), try await ask.decision(StageAddress.host)]
      try stage.ip("link set veth0 up")
      return down + [try await ask.decision(remote)]
    }
    #expect(decisions == [.refused(.noRoute), .local, .refused(.noRoute)])
  }

  @Test("the last address takes the default route with it, one of two does not (K10)", .timeLimit(.minutes(4)))
  func addresses() async throws {
    let decisions = try await withGateway { stage, ask, _ in
      try stage.ip("address add 192.0.3.1/24 dev veth0\naddress del 192.0.2.1/24 dev veth0")
      let oneLeft = try await ask.decision(remote)
      try stage.ip("address del 192.0.3.1/24 dev veth0")
      return [oneLeft, try await ask.decision(remote)]
    }
    #expect(decisions == [.unicast, .refused(.noRoute)])
  }

  @Test("a next hop that does not answer is told, be it a gateway or the target itself", .timeLimit(.minutes(4)))
  func neighbours() async throws {
    let expected = [true, true, true, true, false, true, true, true]
    let failed = try await withGateway { stage, ask, _ in
      func look() async throws -> [Bool] {
        var failed: [Bool] = []
        for address in [remote, remote6, StageAddress.absent, StageAddress.absent6, StageAddress.host] {
          failed.append(try await ask(address).isNeighbourFailed)
        }
        return failed + (try await ask(.defaultPath, DefaultPathTests.candidates).map(\.isNeighbourFailed))
      }
      let before = try await look()
      let neighbours = [
        StageAddress.gateway, StageAddress.gateway6, StageAddress.absent, StageAddress.absent6, StageAddress.host,
      ]
      let batch = neighbours.map { "neighbour replace \($0) dev veth0 nud failed" }.joined(separator: "\n")
      // A gateway that asks for us meanwhile mends its entry again, so this may take more than one try.
      for _ in 0..<50 {
        try stage.ip(batch)
        let after = try await look()
        if after == expected { return [before, after] }
      }
      return [before, try await look()]
    }
    #expect(failed == [[Bool](repeating: false, count: 8), expected])
  }

  @Test("a neighbour that was tried in vain has failed", .timeLimit(.minutes(4)))
  func triedNeighbour() async throws {
    let (before, after) = try await withGateway { stage, ask, _ in
      let before = try await ask(StageAddress.absent)
      // One query at once instead of three in three seconds.
      try stage.set("ipv4/neigh/veth0/mcast_solicit", to: "1")
      try stage.set("ipv4/neigh/veth0/retrans_time_ms", to: "10")
      let socket = try connecting(to: StageAddress.absent, 9)
      let loop = ask.host.loop
      _ = try await loop.wait(on: socket.number, for: .writable, until: .distantFuture)
      return (before, try await ask(StageAddress.absent))
    }
    #expect(!before.isNeighbourFailed)
    #expect(after.isNeighbourFailed)
    #expect(after.decision == .unicast)
  }
}
