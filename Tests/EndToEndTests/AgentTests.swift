import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// `reachd run`, from its start to its end.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct AgentTests {
  private static let configuration = """
    defaults: { interval: 1s, timeout: 800ms }
    targets:
      - 127.0.0.1
      - name: loopback
        interface: lo
        labels: { team: storage }
      - name: nobody
        address: 127.0.0.1
        port: 1
        fall: 1
    """

  @Test("it starts, answers every path, says what it does in JSON lines, and stops")
  func life() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start(Self.configuration, on: loop)
      try await agent.awaitReady()
      let client = agent.client

      #expect(try await client.get("/-/healthy").status == 200)
      #expect(try await client.get("/nothing").status == 404)
      let wrong = try await client.get("/metrics", method: "DELETE")
      #expect(wrong.status == 405)
      #expect(wrong.headers["allow"]?.contains("GET") == true)
      let page = try await client.get("/")
      #expect(page.status == 200)
      #expect(page.headers["content-type"] == "text/html; charset=utf-8")
      #expect(page.body.contains("loopback"))
      let metrics = try await client.get("/metrics")
      #expect(metrics.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      #expect(try await client.get("/metrics", method: "HEAD").body == "")

      let targets = try await client.get("/api/v1/targets")
      #expect(targets.headers["content-type"]?.hasPrefix("application/json") == true)
      try Self.checkShape(of: JSON(parsing: targets.body))

      let status = try await agent.stop()
      #expect(status == 0)
      #expect(agent.process.output == "")
      Self.checkLog(of: agent)
    }
  }

  private static func checkShape(of targets: JSON) throws {
    let names = targets.elements.map { $0["target"]?.text ?? "" }
    #expect(names == ["127.0.0.1", "loopback", "nobody"])
    for target in targets.elements {
      #expect(
        target.names == [
          "target", "kind", "status", "flags", "flags_value", "layer", "reason", "stale", "since", "path",
          "addresses", "probes",
        ])
      #expect(target["path"]?.names == ["interface", "medium", "gateway", "source", "address"])
    }
    let nobody = try #require(targets[2])
    #expect(nobody["status"] == .string("NotReachable"))
    #expect(nobody["flags"] == .string("-- -------"))
    #expect(nobody["flags_value"] == .number(0))
    #expect(nobody["layer"] == .string("tcp"))
    #expect(nobody["reason"] == .string("tcp_refused"))
    #expect(nobody["addresses"]?[0]?.names == ["address", "family", "state", "reason"])
    #expect(nobody["probes"]?.names.contains("tcp") == true)
    #expect(nobody["probes"]?["tcp"]?.names == ["outcome", "reason", "duration_seconds", "at"])
    #expect(nobody["probes"]?["tcp"]?["outcome"] == .string("failure"))
  }

  private static func checkLog(of agent: RunningAgent) {
    #expect(agent.brokenLogLines == [])
    for line in agent.log { #expect(line.names.prefix(4) == ["time", "level", "event", "message"]) }
    let plugins = agent.lines("plugin_loaded")
    #expect(plugins.compactMap { $0["plugin"]?.text }.sorted() == ["dns", "link", "route", "tcp"])
    #expect(plugins.allSatisfy { $0["file"]?.text?.hasPrefix("/") == true && $0["version"]?.text != nil })
    #expect(agent.lines("config_loaded").count == 1)
    #expect(agent.lines("config_loaded").first?["problems"] == .array([]))
    let started = agent.lines("agent_started")
    #expect(started.count == 1)
    #expect(started.first?["targets"] == .number(3))
    #expect(started.first?["version"]?.text != nil)
    #expect(agent.lines("agent_stopping").count == 1)
    #expect(agent.log.last?["event"] == .string("agent_stopping"))
    for target in ["127.0.0.1", "loopback", "nobody"] {
      let initial = agent.lines("status_initial", target: target)
      #expect(initial.count == 1)
      #expect(
        initial.first?.names == [
          "time", "level", "event", "message", "target", "to", "flags", "flags_value", "layer", "reason", "interface",
          "medium", "address", "sequence", "in_previous_seconds", "labels",
        ])
      #expect(agent.lines("status_changed", target: target).isEmpty)
    }
    let labels = JSON.object([JSON.Member(name: "team", value: .string("storage"))])
    #expect(agent.lines("status_initial", target: "loopback").first?["labels"] == labels)
  }

  @Test("it is ready once every target has had its first round, and not before")
  func readiness() async throws {
    try await withEventLoop { loop in
      let port = try TestPort(.full)
      let agent = try await RunningAgent.start(
        """
        targets:
          - { name: slow, address: 127.0.0.1, port: \(port.number), interval: 40s, timeout: 30s, probes: [route, { tcp: { timeout: 30s } }] }
          - 127.0.0.1
        """, on: loop)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "127.0.0.1")
      #expect(try await agent.client.get("/-/ready").status == 503)
      #expect(try await agent.target("slow")?["status"] == .string("Unknown"))
      #expect(try await agent.target("slow")?["reason"] == .string("not_probed"))
      #expect(try await agent.target("slow")?["flags"] == .null)
      let statuses = try await agent.client.metrics()
      #expect(statuses.statuses(of: "slow") == ["Unknown"])
      #expect(statuses.values("reachability_flags", ["target": "slow"]).isEmpty)
      // Room in the queue: the kernel's next SYN is answered.
      while try port.accept() != nil {}
      try await agent.awaitReady()
      #expect(try await agent.target("slow")?["reason"] == .string("tcp_open"))
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("SIGINT ends it as SIGTERM does, also while a probe is under way")
  func interrupted() async throws {
    let status = try await withEventLoop { loop in
      let port = try TestPort(.full)
      let agent = try await RunningAgent.start(
        "targets: [{ name: slow, address: 127.0.0.1, port: \(port.number), interval: 1m, timeout: 50s }]", on: loop)
      agent.process.send(SIGINT)
      return try await agent.process.exitStatus(within: .seconds(20))
    }
    #expect(status == 0)
  }

  @Test("SIGHUP is answered, not died of")
  func hangUp() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start(Self.configuration, on: loop)
      agent.process.send(SIGHUP)
      _ = try await eventually("an answer to SIGHUP", on: loop) { () -> Bool? in
        let events = agent.log.compactMap { $0["event"]?.text }
        return events.contains("self_check") || events.count { $0 == "config_loaded" } == 2 ? true : nil
      }
      #expect(try await agent.client.get("/-/healthy").status == 200)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a port that is taken keeps it from starting, and is named")
  func portInUse() async throws {
    try await withEventLoop { loop in
      let port = try TestPort(.open)
      let folder = try TestFolder()
      let file = try folder.write(Self.configuration, to: "reachd.yaml")
      let ended = try await Reachd.run(
        ["run", "--config", file, "--listen", "127.0.0.1:\(port.number)"], on: loop)
      #expect(ended.status == 1)
      #expect(ended.errors.contains("127.0.0.1:\(port.number)"))
      #expect(ended.output == "")
    }
  }

  @Test("a broken configuration keeps it from starting, with every problem on a line")
  func brokenConfiguration() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let file = try folder.write(
        """
        defaults: { intervall: 5s }
        targets:
          - { name: a, address: 256.1.1.1 }
          - { name: b, host: example.com, port: 70000 }
        """, to: "reachd.yaml")
      let ended = try await Reachd.run(["run", "--config", file], on: loop)
      #expect(ended.status == 1)
      let lines = ended.errors.split(separator: "\n")
      #expect(lines.count == 3)
      for (line, number) in zip(lines, [1, 3, 4]) { #expect(line.hasPrefix("\(file):\(number):")) }
      #expect(lines.allSatisfy { $0.contains(" error: ") })
      #expect(lines.first?.contains("interval") == true)

      let missing = try await Reachd.run(["run", "--config", folder.path + "/none.yaml"], on: loop)
      #expect(missing.status == 1)
      #expect(missing.errors.contains("none.yaml"))
    }
  }

  @Test("a log that nobody reads does not end it, and what is lost is counted")
  func closedLog() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let port = try TestPort(.closed).number
      let file = try folder.write(Self.configuration, to: "reachd.yaml")
      let process = try ChildProcess(
        [Reachd.program, "run", "--config", file, "--listen", "127.0.0.1:\(port)"], errorsTo: .brokenPipe, on: loop)
      let client = HTTPClient(address: .loopback, port: port, loop: loop)
      let lost = try await eventually("an answer", on: loop) { () -> Double? in
        guard process.isRunning else { throw process.failure("ended") }
        guard (try? await client.get("/-/ready"))?.status == 200 else { return nil }
        return try await client.metrics().value("reachd_log_dropped_total")
      }
      #expect(lost > 0)
      process.send(SIGTERM)
      #expect(try await process.exitStatus() == 0)
    }
  }

  @Test("a log whose reader does not read neither stops probing nor the end")
  func blockedLog() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let port = try TestPort(.closed).number
      let targets = (0..<50).map { "  - { name: t\($0), address: 127.0.0.1 }\n" }
      let file = try folder.write(
        "defaults: { interval: 50ms, timeout: 40ms }\ntargets:\n" + targets.joined(), to: "reachd.yaml")
      let process = try ChildProcess(
        [Reachd.program, "run", "--config", file, "--listen", "127.0.0.1:\(port)", "--log-level", "debug"],
        errorsTo: .unreadPipe, on: loop)
      let client = HTTPClient(address: .loopback, port: port, loop: loop)
      // More lines than the pipe and the agent's own store hold.
      _ = try await eventually("lost lines", on: loop) { () -> Bool? in
        guard process.isRunning else { throw process.failure("ended") }
        guard (try? await client.get("/-/ready"))?.status == 200 else { return nil }
        return try await client.metrics().value("reachd_log_dropped_total") ?? 0 > 0 ? true : nil
      }
      #expect(try await client.get("/-/healthy").status == 200)
      process.send(SIGTERM)
      #expect(try await process.exitStatus() == 0)
    }
  }

  @Test("a target that turns bad is NotReachable after `fall` failures, and the log says how long it had been well")
  func change() async throws {
    try await withEventLoop { loop in
      var listener: TestPort? = try TestPort(.open)
      let port = try #require(listener?.number)
      let agent = try await RunningAgent.start(
        "targets: [{ name: service, address: 127.0.0.1, port: \(port), interval: 200ms, timeout: 150ms, fall: 3 }]",
        options: ["--log-level", "debug"], on: loop)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      listener = nil
      let line = try await agent.awaitLine("status_changed", target: "service")
      #expect(line["from"] == .string("ReachableViaWiFi"))
      #expect(line["to"] == .string("NotReachable"))
      #expect(line["reason"] == .string("tcp_refused"))
      let log = agent.log
      let end = log.firstIndex(of: line) ?? 0
      let failures = log[..<end].count { $0["probe"]?.text == "tcp" && $0["outcome"]?.text == "failure" }
      #expect(failures == 3)
      let metrics = try await agent.client.metrics()
      #expect(metrics.value("reachability_transitions_total", ["target": "service", "to": "NotReachable"]) == 1)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(listener) {}
    }
  }
}
