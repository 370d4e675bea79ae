import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What outlives the agent: transitions, counters, sequence numbers and the last status.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct StateTests {
  private static func configuration(_ folder: TestFolder?, _ port: UInt16, _ more: String = "") -> String {
    (folder.map { "state_dir: \($0.path)/state\n" } ?? "") + """
      defaults: { interval: 50ms, timeout: 40ms, fall: 1 }
      targets:
        - { name: port, address: 127.0.0.1, port: \(port) }
        - { name: host, address: 127.0.0.1 }
      \(more)
      """
  }

  /// Opens and closes the port, waiting each time until the agent has seen it.
  private static func flap(_ port: FlappingPort, _ times: Int, _ agent: RunningAgent) async throws {
    for _ in 0..<times {
      port.open()
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "port")
      port.close()
      _ = try await agent.awaitStatus("NotReachable", of: "port")
    }
  }

  private static func transitions(_ metrics: ExpositionText, _ target: String = "port") -> [String: Double] {
    metrics.samples.filter { $0.name == "reachability_transitions_total" && $0.labels["target"] == target }
      .reduce(into: [:]) { $0[$1.labels["to"] ?? ""] = $1.value }
  }

  @Test("after a clean stop every counter goes on, and a target that is still down is no second transition")
  func cleanRestart() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let port = try FlappingPort()
      let configuration = Self.configuration(folder, port.number)
      let first = try await RunningAgent.start(configuration, on: loop)
      try await first.awaitReady()
      try await Self.flap(port, 3, first)
      let since = try #require(try await first.target("port")?["since"]?.text)
      let before = try await first.client.metrics()
      #expect(before.value("reachd_state_lost_total") == 0)
      #expect(try await first.stop() == 0)
      let changed = first.lines("status_changed", target: "port")
      #expect(changed.count == 6)

      let second = try await RunningAgent.start(configuration, on: loop)
      try await second.awaitReady()
      let initial = try await second.awaitLine("status_initial", target: "port")
      #expect(initial["to"] == .string("NotReachable"))
      #expect(initial["sequence"] == changed.last?["sequence"])
      let target = try #require(try await second.target("port"))
      #expect(target["since"] == .string(since))
      #expect(target["stale"] == .boolean(false))
      let after = try await second.client.metrics()
      #expect(Self.transitions(after) == Self.transitions(before))
      #expect(Self.transitions(after)["NotReachable"] == 3)
      for (name, labels) in [
        ("reachability_probe_runs_total", ["probe": "tcp", "outcome": "success"]),
        ("reachability_probe_runs_total", ["probe": "tcp", "outcome": "failure"]),
        ("reachability_probe_failures_total", ["probe": "tcp", "reason": "tcp_refused"]),
        ("reachability_status_seconds_total", ["status": "NotReachable"]),
        ("reachability_status_seconds_total", ["status": "ReachableViaWiFi"]),
        ("reachability_raw_changes_total", [:]),
      ] {
        let labels = labels.merging(["target": "port"]) { $1 }
        let (old, new) = (before.value(name, labels), after.value(name, labels))
        #expect(old ?? 0 > 0, "\(name) \(labels)")
        #expect(new ?? 0 >= old ?? 0, "\(name) \(labels)")
      }
      #expect(second.lines("status_changed") == [])
      #expect(second.lines("self_check") == [])
      // The next change is one more.
      port.open()
      let next = try await second.awaitLine("status_changed", target: "port")
      #expect(next["sequence"]?.number == (changed.last?["sequence"]?.number ?? 0) + 1)
      #expect(next["from"] == .string("NotReachable"))
      #expect(next["in_previous_seconds"]?.number ?? 0 > 0)
      #expect(try await second.stop() == 0)
    }
  }

  @Test("what changed while nobody looked is a change from what was known, once there is evidence")
  func changedMeanwhile() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let port = try FlappingPort()
      let configuration = Self.configuration(folder, port.number)
      let first = try await RunningAgent.start(configuration, on: loop)
      let initial = try await first.awaitLine("status_initial", target: "port")
      #expect(initial["to"] == .string("NotReachable"))
      #expect(try await first.stop() == 0)
      port.open()
      let second = try await RunningAgent.start(configuration, on: loop)
      let changed = try await second.awaitLine("status_changed", target: "port")
      #expect(changed["from"] == .string("NotReachable"))
      #expect(changed["to"] == .string("ReachableViaWiFi"))
      #expect(changed["sequence"]?.number == (initial["sequence"]?.number ?? 0) + 1)
      #expect(second.lines("status_initial", target: "port") == [])
      #expect(try await second.stop() == 0)
    }
  }

  @Test("transitions can be asked for while the agent runs, and read with and without it")
  func reading() async throws {
    try await withEventLoop { loop in
      for folder in [try TestFolder(), nil] {
        let port = try FlappingPort()
        let configuration = Self.configuration(folder, port.number)
        let agent = try await RunningAgent.start(configuration, on: loop)
        try await agent.awaitReady()
        try await Self.flap(port, 4, agent)
        let all = try await agent.client.json("/api/v1/transitions").elements
        #expect(all.compactMap { $0["sequence"]?.number } == [9, 8, 7, 6, 5, 4, 3, 2])
        #expect(
          all.first?.names == [
            "sequence", "at", "target", "from", "to", "flags", "flags_value", "layer", "reason", "cause_id",
            "interface", "medium", "in_previous_seconds",
          ])
        #expect(all.first?["to"] == .string("NotReachable"))
        #expect(all.first?["reason"] == .string("tcp_refused"))
        #expect(try await agent.client.json("/api/v1/transitions?limit=3").elements == Array(all.prefix(3)))
        #expect(try await agent.client.json("/api/v1/transitions?target=port&limit=99999").elements == all)
        #expect(try await agent.client.json("/api/v1/transitions?target=host").elements == [])
        for limit in ["0", "-1", "x", "1.5", ""] {
          #expect(try await agent.client.get("/api/v1/transitions?limit=\(limit)").status == 400, "\(limit)")
        }
        guard let folder else {
          #expect(try await agent.stop() == 0)
          continue
        }
        let file = try folder.write(configuration, to: "reachd.yaml")
        for isRunning in [true, false] {
          let json = try await Reachd.run(["history", "--config", file, "--json"], on: loop)
          #expect(json.status == 0, "\(json.errors)")
          #expect(try JSON(parsing: json.output).elements == all.reversed(), "running: \(isRunning)")
          let table = try await Reachd.run(
            ["history", "--config", file, "--target", "port", "--since", "1h"], on: loop)
          let lines = table.output.split(separator: "\n")
          #expect(lines.count == 9)
          #expect(lines.first?.hasPrefix("TIME ") == true)
          #expect(lines.last?.contains("NotReachable") == true && lines.last?.contains("tcp_refused") == true)
          let none = try await Reachd.run(["history", "--config", file, "--target", "host"], on: loop)
          #expect(none.status == 0 && none.output.isEmpty && none.errors.contains("of 'host'"))
          if isRunning { #expect(try await agent.stop() == 0) }
        }
      }
    }
  }

  @Test("history without state says so, and exits with 1")
  func noHistory() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let without = try folder.write("targets: []\n", to: "without.yaml")
      let unused = try folder.write("state_dir: \(folder.path)/state\ntargets: []\n", to: "unused.yaml")
      for (file, words) in [(without, "has no state_dir"), (unused, "there is no state"), ("/none", "no such file")] {
        let ended = try await Reachd.run(["history", "--config", file], on: loop)
        #expect(ended.status == 1)
        #expect(ended.output == "")
        #expect(ended.errors.contains(words), "\(ended.errors)")
      }
      let since = try await Reachd.run(["history", "--config", without, "--since", "5"], on: loop)
      #expect(since.status == 64)
    }
  }

  @Test("a broken database and a folder that cannot be used cost one warning each, and nothing else")
  func trouble() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let port = try FlappingPort()
      let good = Self.configuration(folder, port.number)
      _ = try runProgram(["mkdir", folder.path + "/state"])
      try folder.write(String(repeating: "no database ", count: 1_000), to: "state/state.db")
      let agent = try await RunningAgent.start(good, on: loop)
      try await agent.awaitReady()
      let check = try #require(agent.lines("self_check").first)
      #expect(check["check"] == .string("state"))
      #expect(check["problem"]?.text?.contains("was set aside as") == true)
      // Another agent on the same folder goes on without it.
      let second = try await RunningAgent.start(good, on: loop)
      try await second.awaitReady()
      #expect(second.lines("self_check").first?["problem"]?.text?.contains("in use by another agent") == true)
      try await Self.flap(port, 1, second)
      _ = try await agent.awaitStatus("NotReachable", of: "port")
      #expect(try await second.client.json("/api/v1/transitions").elements.count == 2)
      #expect(try await second.stop() == 0)
      #expect(try await agent.stop() == 0)
      #expect(agent.lines("self_check").count == 1)
      #expect(second.lines("self_check").count == 1)
    }
  }
}
