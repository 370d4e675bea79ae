import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What systemd and the service say to one another.
@Suite(.serialized, .enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"))
struct ServiceTests {
  @Test(
    "once systemctl returns from start the agent serves; a reload is in force, or failed and changed nothing",
    .timeLimit(.minutes(5)))
  func reload() async throws {
    try await withMachineAgent(Self.configuration(["one"])) { agent, _ in
      // One request, at once.
      try await agent.machine.succeed("systemctl", "restart", "reachd")
      #expect(try await agent.client.get("/-/healthy").status == 200)
      let process = try await agent.property("MainPID")

      try agent.machine.write(Self.configuration(["one", "two"]), to: "/etc/reachd/reachd.yaml")
      try await agent.machine.succeed("systemctl", "reload", "reachd")
      #expect(try await Self.targets(of: agent) == ["one", "two"])

      try agent.machine.write("nonsense: 1\ntargets: []\n", to: "/etc/reachd/reachd.yaml")
      let refused = try await agent.machine.run(["systemctl", "reload", "reachd"])
      #expect(refused.status == 1, "\(refused.output)\(refused.errors)")
      #expect(try await agent.property("ActiveState") == "active")
      #expect(try await Self.targets(of: agent) == ["one", "two"])
      let problem = "/etc/reachd/reachd.yaml:1:"
      #expect(try await agent.journal().split(separator: "\n").contains { $0.hasPrefix(problem) })

      try agent.machine.write(Self.configuration(["three"]), to: "/etc/reachd/reachd.yaml")
      try await agent.machine.succeed("systemctl", "reload", "reachd")
      #expect(try await Self.targets(of: agent) == ["three"])
      #expect(try await agent.property("MainPID") == process)
    }
  }

  @Test(
    "an agent that hangs is ended by the watchdog and started again; a stop takes less than 2 s",
    .timeLimit(.minutes(5)))
  func watchdog() async throws {
    try await withMachineAgent(
      Self.configuration(["one"]), furnish: { try $0.dropIn("[Service]\nWatchdogSec=2s\n") },
      { agent, _ in
        let process = try await agent.property("MainPID")
        // It beats: no restart without a cause for longer than the watchdog's time is seen below, where one counts as one.
        try await agent.machine.succeed("systemctl", "kill", "--signal=SIGSTOP", "reachd.service")
        let next = try await agent.awaitProperty("MainPID") { $0 != process && $0 != "0" }
        try await agent.awaitProperty("ActiveState") { $0 == "active" }
        #expect(try await agent.property("NRestarts") == "1")
        #expect(try await agent.journal().contains("Watchdog timeout"))

        try await agent.machine.succeed("systemctl", "stop", "reachd")
        let begin = try #require(UInt64(try await agent.property("ActiveExitTimestampMonotonic")))
        let end = try #require(UInt64(try await agent.property("InactiveEnterTimestampMonotonic")))
        #expect(end > begin && end - begin < 2_000_000)
        #expect(try await agent.property("Result") == "success")
        #expect(try await agent.machine.run(["test", "-d", "/proc/\(next)"]).status != 0)
      })
  }

  @Test(
    "an agent that is killed comes back, and so does one whose configuration is mended in the end",
    .timeLimit(.minutes(5)))
  func restarts() async throws {
    try await withMachineAgent(Self.configuration(["one"])) { agent, _ in
      try agent.machine.write("nonsense", to: "/etc/reachd/reachd.yaml")
      try await agent.machine.succeed("systemctl", "kill", "--signal=SIGKILL", "reachd.service")
      try await agent.awaitProperty("NRestarts") { (Int($0) ?? 0) >= 2 }
      #expect(try await agent.journal().contains("/etc/reachd/reachd.yaml:1:"))
      try agent.machine.write(Self.configuration(["two"]), to: "/etc/reachd/reachd.yaml")
      try await agent.awaitProperty("ActiveState") { $0 == "active" }
      #expect(try await Self.targets(of: agent) == ["two"])
    }
  }

  private static func configuration(_ names: [String]) -> String {
    "targets:\n" + names.map { "  - { name: \($0), address: 127.0.0.1 }\n" }.joined()
  }

  private static func targets(of agent: MachineAgent) async throws -> [String] {
    try await agent.client.json("/api/v1/targets").elements.compactMap { $0["target"]?.text }
  }
}
