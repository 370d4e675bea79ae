import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The agent in a sandbox that is too tight: it starts, serves, says what is at fault, and blames no target.
@Suite(
  .enabled(
    if: NamespaceSupport.isAvailable && SocketRefusal.isAvailable, "\(NamespaceSupport.requirement), and python3"),
  .timeLimit(.minutes(5)))
struct RefusedSocketTests {
  private static func start(
    _ configuration: String, refusing family: Int32, asUnit: Bool = true, options: [String] = [],
    environment: [String] = [], on loop: EventLoop
  ) async throws -> RunningAgent {
    try await RunningAgent.start(
      configuration, options: options, under: ["env"] + environment + SocketRefusal.of(family, asUnit: asUnit), on: loop
    )
  }

  @Test("without AF_NETLINK every target is Unknown, which no alert takes for NotReachable, and the setting is named")
  func netlink() async throws {
    try await withNetworkNamespace { loop, _ in
      let closed = try TestPort(.closed)
      let open = try TestPort(.open)
      let folder = try TestFolder()
      let agent = try await Self.start(
        """
        state_dir: \(folder.path)
        defaults: { interval: 200ms, timeout: 150ms, fall: 1 }
        targets:
          - default
          - 192.0.2.1
          - { name: closed, address: 127.0.0.1, port: \(closed.number) }
          - { name: open, address: 127.0.0.1, port: \(open.number) }
          - { name: lo, interface: lo }
          - { name: gone, interface: gone0 }
          - { name: lan, link_local: gone0 }
          - { name: named, host: nowhere.invalid, port: 443 }
          - { name: zoned, address: "fe80::1%gone0", port: 443 }
          - { name: pair, pair: { local: 127.0.0.1, remote: 127.0.0.2 } }
        """, refusing: AF_NETLINK, on: loop)
      try await agent.awaitReady()
      // A look without an event, as there is one every two seconds, and rounds enough for fall and unknown_after.
      _ = try await eventually("rounds", on: loop) {
        let runs = try await agent.client.metrics(beginningWith: "reachability_probe_runs_total")
        let errors = runs.values("reachability_probe_runs_total", ["target": "closed", "outcome": "error"])
        return errors.reduce(0, +) > 15 ? true : nil
      }
      let targets = try await agent.client.json("/api/v1/targets").elements
      #expect(targets.count == 10)
      for target in targets {
        #expect(target["status"] == .string("Unknown"), "\(target)")
        #expect(target["layer"] == .string("local"), "\(target)")
      }
      let said = agent.lines("self_check").filter { $0["check"]?.text == "netlink" }
      #expect(said.count == 1)
      #expect(said.first?["problem"]?.text?.contains("refused to this process (socket: EAFNOSUPPORT)") == true)
      #expect(said.first?["remedy"]?.text == "add AF_NETLINK to RestrictAddressFamilies= in reachd's unit")
      // The rounds do not say it again.
      #expect(!agent.lines("self_check").contains { $0["check"]?.text == "permission" })
      #expect(!agent.log.contains { $0["to"]?.text == "NotReachable" })
      #expect(agent.lines("cause").isEmpty)
      #expect(try await agent.client.get("/-/healthy").status == 200)
      #expect(try await agent.client.get("/").status == 200)
      #expect(try await agent.reload("targets: [192.0.2.7]\n").status == 200)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((closed, open)) {}
    }
  }

  @Test("reachd probe says it in one line, and is not sure of anything")
  func probe() async throws {
    try await withNetworkNamespace { loop, _ in
      let process = try ChildProcess(
        SocketRefusal.of(AF_NETLINK) + [Reachd.program, "probe", "--config", "/dev/null", "127.0.0.1"], on: loop)
      #expect(try await process.exitStatus() == 2)
      #expect(process.output == "")
      #expect(process.errors.contains("AF_NETLINK") && process.errors.count { $0 == "\n" } == 1, "\(process.errors)")
    }
  }

  @Test("without AF_INET6 a target of IPv6 is Unknown, and the setting is named; one of IPv4 is as it is")
  func ipv6() async throws {
    try await withNetworkNamespace { loop, _ in
      let four = try TestPort(.open)
      let six = try TestPort(.open, on: "::1")
      let agent = try await Self.start(
        """
        defaults: { interval: 200ms, timeout: 150ms, fall: 1 }
        targets:
          - { name: four, address: 127.0.0.1, port: \(four.number) }
          - { name: six, address: "::1", port: \(six.number) }
        """, refusing: AF_INET6, on: loop)
      try await agent.awaitReady()
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "four")
      let line = try await agent.awaitLine("self_check") { $0["check"]?.text == "permission" }
      #expect(line["problem"]?.text?.hasSuffix("; this concerns the target six") == true, "\(line)")
      #expect(line["remedy"]?.text == "add AF_INET and AF_INET6 to RestrictAddressFamilies= in reachd's unit")
      #expect(try await agent.target("six")?["status"] == .string("Unknown"))
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((four, six)) {}
    }
  }

  @Test("without AF_UNIX the service manager cannot be told, and the setting is named")
  func unix() async throws {
    try await withNetworkNamespace { loop, _ in
      let folder = try TestFolder()
      let manager = try NotifySocket(in: folder, on: loop)
      let agent = try await Self.start(
        "targets: []\n", refusing: AF_UNIX, environment: ["NOTIFY_SOCKET=\(manager.path)"], on: loop)
      let line = try await agent.awaitLine("self_check") { $0["check"]?.text == "service_manager" }
      #expect(line["problem"]?.text?.contains("socket: EAFNOSUPPORT") == true)
      #expect(line["remedy"]?.text == "add AF_UNIX to RestrictAddressFamilies= in reachd's unit")
      #expect(manager.messages == [])
      #expect(try await agent.stop() == 0)
      // Nor can it serve at a Unix socket, which it says before it ends.
      let refused = try ChildProcess(
        SocketRefusal.of(AF_UNIX, asUnit: true)
          + [Reachd.program, "run", "--config", "/dev/null", "--listen", "unix:\(folder.path)/s"], on: loop)
      #expect(try await refused.exitStatus() == 1)
      #expect(
        refused.errors.hasSuffix("EAFNOSUPPORT; add AF_UNIX to RestrictAddressFamilies= in reachd's unit\n"),
        "\(refused.errors)")
    }
  }

  @Test("where there is no interface but the loopback one, that is said once interfaces had time to appear")
  func alone() async throws {
    try await withNetworkNamespace { loop, _ in
      let agent = try await RunningAgent.start("targets: [default]\n", under: ["env", "NOTIFY_SOCKET=/none"], on: loop)
      let line = try await agent.awaitLine("self_check") { $0["check"]?.text == "network" }
      #expect(line["remedy"]?.text == "set PrivateNetwork=no in reachd's unit")
      #expect(try await agent.stop() == 0)
    }
  }
}
