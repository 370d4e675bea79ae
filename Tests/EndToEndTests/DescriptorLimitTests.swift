import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The whole program with no more descriptors than it can get by with.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"), .serialized, .timeLimit(.minutes(5)))
struct DescriptorLimitTests {
  private static let limit = ["prlimit", "--nofile=64:64"]

  private static let zone = """
    $ORIGIN reachd.test.
    $TTL 300
    @       IN SOA  ns hostmaster 1 3600 600 86400 60
    @       IN NS   ns
    ns      IN A    198.51.100.2
    one     IN A    198.51.100.2
    several IN A    198.51.100.2
    several IN A    198.51.100.66
    several IN A    198.51.100.67
    several IN A    198.51.100.68

    """

  @Test("with 64 descriptors 200 targets are probed, none is called down or Unknown, and eight clients are served")
  func healthy() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.nft(
        "table inet t { chain c { type filter hook forward priority 0; ip daddr 198.51.100.64/28 drop; }; }")
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let targets = (0..<200).map { number -> String in
        let name = number % 10 == 0 ? "host: one.reachd.test" : number % 20 == 1 ? "host: several.reachd.test" : nil
        let probes = "probes: [link, route, { dns: { server: 198.51.100.2 } }, tcp]"
        let place = name.map { "\($0), \(probes)" } ?? "address: 198.51.100.2"
        return "  - { name: t\(number), \(place), port: \(open.number) }\n"
      }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 3s, timeout: 2500ms }\ntargets:\n" + targets.joined(), under: Self.limit, on: loop)
      try await agent.awaitReady()
      try await Self.awaitRounds(3, of: 200, agent, on: loop)
      for _ in 0..<4 {
        let scrapes = try await withThrowingTaskGroup(of: HTTPAnswer.self) { group in
          for _ in 0..<8 { group.addTask(executorPreference: loop) { try await agent.client.get("/metrics") } }
          return try await group.reduce(into: [HTTPAnswer]()) { $0.append($1) }
        }
        #expect(scrapes.count == 8)
        #expect(scrapes.allSatisfy { $0.status == 200 })
      }
      let metrics = try await agent.client.metrics()
      #expect(metrics.value("process_max_fds") == 64)
      #expect(metrics.values("reachability_status", ["status": "ReachableViaWiFi"]).reduce(0, +) == 200)
      #expect(metrics.values("reachability_probe_runs_total", ["outcome": "error"]).reduce(0, +) == 0)
      #expect(agent.lines("status_initial").count == 200)
      #expect(agent.lines("status_changed").isEmpty)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open)) {}
    }
  }

  @Test("a low soft limit is raised as far as the hard one allows, and a limit that is too low for anything is said")
  func limits() async throws {
    try await withEventLoop { loop in
      let configuration = "targets: [{ name: self, address: 127.0.0.1 }]"
      let raised = try await RunningAgent.start(configuration, under: ["prlimit", "--nofile=64:1024"], on: loop)
      #expect(try await raised.client.metrics().value("process_max_fds") == 1024)
      #expect(raised.lines("self_check").isEmpty)
      #expect(try await raised.stop() == 0)
      let tight = try await RunningAgent.start(configuration, under: ["prlimit", "--nofile=28:28"], on: loop)
      let line = try await tight.awaitLine("self_check") { $0["check"] == .string("descriptors") }
      #expect(line["problem"]?.text?.contains("28 descriptors") == true)
      #expect(line["remedy"]?.text?.contains("LimitNOFILE=") == true)
      _ = try await tight.awaitStatus("ReachableViaWiFi", of: "self")
      #expect(try await tight.stop() == 0)
    }
  }

  @Test("targets that answer nothing keep none of the others from being probed, and the remedy is said once")
  func crowded() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.nft("table inet t { chain c { type filter hook forward priority 0; tcp dport 7 drop; }; }")
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let targets = (0..<120).map {
        "  - { name: \($0 % 2 == 0 ? "up" : "down")\($0), address: 198.51.100.2, port: \($0 % 2 == 0 ? open.number : 7) }\n"
      }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 1s, timeout: 1s }\ntargets:\n" + targets.joined(), under: Self.limit, on: loop)
      let line = try await agent.awaitLine("self_check") { $0["check"] == .string("descriptors") }
      #expect(line["problem"]?.text?.contains("limit of 64 descriptors") == true)
      #expect(line["remedy"]?.text?.contains("LimitNOFILE=") == true)
      _ = try await eventually("60 targets down", on: loop, state: { agent.process.errors }) { () -> Bool? in
        let metrics = try await agent.client.metrics()
        return metrics.values("reachability_status", ["status": "NotReachable"]).reduce(0, +) == 60 ? true : nil
      }
      try await Self.awaitRounds(4, of: 60, agent, on: loop)
      let metrics = try await agent.client.metrics()
      #expect(metrics.values("reachability_status", ["status": "NotReachable"]).reduce(0, +) == 60)
      #expect(metrics.values("reachability_status", ["status": "ReachableViaWiFi"]).reduce(0, +) == 60)
      #expect(agent.lines("status_changed").isEmpty)
      #expect(agent.lines("self_check").count { $0["check"] == .string("descriptors") } == 1)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  /// Waits until that many targets have had that many rounds with an open port.
  private static func awaitRounds(_ rounds: Double, of targets: Int, _ agent: RunningAgent, on loop: EventLoop)
    async throws
  {
    _ = try await eventually("\(rounds) rounds", on: loop, state: { agent.process.errors }) { () -> Bool? in
      let metrics = try await agent.client.metrics()
      let runs = metrics.values("reachability_probe_runs_total", ["probe": "tcp", "outcome": "success"])
      return runs.count { $0 >= rounds } >= targets ? true : nil
    }
  }
}
