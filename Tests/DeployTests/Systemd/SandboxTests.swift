import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What the service can do in its sandbox, and what it cannot.
@Suite(.serialized, .enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"))
struct SandboxTests {
  @Test(
    "in its sandbox the agent keeps its state over a restart, measures itself, and sees links and routes",
    .timeLimit(.minutes(5)))
  func whatWorks() async throws {
    try await withMachineAgent(Self.configuration) { agent, _ in
      _ = try await agent.awaitLine("status_initial", target: "down")
      try await agent.awaitStatus("NotReachable", of: "down")
      let before = try await agent.lines("status_initial", target: "down").first
      try await agent.machine.succeed("systemctl", "restart", "reachd")
      let after = try await agent.awaitLine("status_initial", target: "down")
      #expect(after["time"] != before?["time"])
      #expect(after["sequence"] == before?["sequence"])
      #expect(try await agent.lines("status_changed").isEmpty)
      #expect(try await agent.lines("self_check").isEmpty)
      let owner = try await agent.machine.succeed(
        "stat", "--format=%U %a", "/var/lib/reachd", "/var/lib/reachd/state.db")
      #expect(owner == "reachd 750\nreachd 640\n")

      let metrics = try await agent.client.metrics()
      for name in [
        "process_resident_memory_bytes", "process_open_fds", "process_max_fds", "process_start_time_seconds",
      ] {
        #expect(try #require(metrics.values(name, [:]).first) > 0, "\(name)")
      }
      #expect(metrics.values("reachd_plugin_info", [:]).count == 4)
      #expect(metrics.values("reachability_link_up", ["interface": "lo"]) == [1])
    }
  }

  @Test(
    "the journal has one line for each event, in JSON, with the priority that its level stands for",
    .timeLimit(.minutes(5)))
  func journal() async throws {
    try await withMachineAgent(Self.configuration) { agent, _ in
      try await agent.awaitStatus("NotReachable", of: "down")
      try agent.machine.write("nonsense", to: "/etc/reachd/reachd.yaml")
      _ = try await agent.machine.run(["systemctl", "reload", "reachd"])
      _ = try await agent.awaitLine("config_rejected")
      let process = try await agent.property("MainPID")
      let text = try await agent.machine.succeed("journalctl", "--output=json", "_PID=\(process)", "_TRANSPORT=stdout")
      let priorities = ["debug": "7", "info": "6", "warning": "4", "error": "3"]
      var levels: Set<String> = []
      for line in text.split(separator: "\n") {
        let entry = try JSON(parsing: String(line))
        let event = try JSON(parsing: try #require(entry["MESSAGE"]?.text))
        let level = try #require(event["level"]?.text)
        #expect(entry["PRIORITY"]?.text == priorities[level], "\(line)")
        #expect(entry["SYSLOG_IDENTIFIER"]?.text == "reachd")
        levels.insert(level)
      }
      #expect(levels.isSuperset(of: ["info", "error"]))
    }
  }

  @Test(
    "the agent has no capability, sees no home and no other process, and writes nowhere but in its own folders",
    .timeLimit(.minutes(5)))
  func whatDoesNot() async throws {
    let furnish: @Sendable (MachineLayer) throws -> Void = { try $0.write("secret", to: "/home/alice/diary") }
    try await withMachineAgent(Self.configuration, furnish: furnish) { agent, _ in
      let process = try await agent.property("MainPID")
      let status = try await agent.machine.succeed(
        "grep", "-E", "^(Cap|NoNewPrivs|Seccomp:)", "/proc/\(process)/status")
      for line in status.split(separator: "\n") {
        let expected = line.hasPrefix("NoNewPrivs") ? "1" : line.hasPrefix("Seccomp") ? "2" : "0000000000000000"
        #expect(line.hasSuffix("\t" + expected), "\(line)")
      }
      // A shell of the same user among the files that the service sees.
      func asAgent(_ command: String) async throws -> Int32 {
        try await agent.machine.run(
          ["nsenter", "--target", process, "--mount", "--setuid", "990", "--setgid", "990", "sh", "-c", command]
        ).status
      }
      #expect(
        try await asAgent("echo x > /var/lib/reachd/x && echo x > /var/log/reachd/x && echo x > /run/reachd/x") == 0)
      for command in [
        "cat /home/alice/diary", "ls /home", "ls /root", "echo x > /etc/reachd/x", "echo x > /usr/lib/reachd/x",
        "echo x > /var/lib/x", "ls /dev/kmsg", "ls /proc/1", "echo 1 > /proc/sys/net/ipv4/ip_forward",
      ] {
        #expect(try await asAgent("(\(command)) 2>/dev/null") != 0, "\(command)")
      }
      // Even the administrator, were the agent to become it, could not write these there.
      let asRoot = try await agent.machine.run(
        ["nsenter", "--target", process, "--mount", "sh", "-c", "echo x > /etc/reachd/x"])
      #expect(asRoot.status != 0)
    }
  }

  private static let configuration = """
    defaults: { interval: 1s, timeout: 800ms }
    state_dir: /var/lib/reachd
    targets:
      - { name: up, interface: lo }
      - { name: down, address: 127.0.0.1, port: 1 }
    """
}
