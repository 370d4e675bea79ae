import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The configuration read again while the agent runs.
@Suite(.serialized, .timeLimit(.minutes(5)))
struct ReloadTests {
  /// Targets on the loopback address at fast intervals, each a line of its own.
  private static func configuration(_ targets: [String], _ more: String = "") -> String {
    "defaults: { interval: 50ms, timeout: 40ms, fall: 1 }\n" + more + "\ntargets:\n"
      + targets.map { "  - { \($0) }\n" }.joined()
  }

  private static func names(_ agent: RunningAgent) async throws -> [String] {
    try await agent.client.json("/api/v1/targets").elements.compactMap { $0["target"]?.text }
  }

  // MARK: Targets

  @Test("unchanged targets go on as they are, removed ones leave no series, new ones begin, in the order of the file")
  func targets() async throws {
    try await withEventLoop { loop in
      let port = try FlappingPort()
      let kept = "name: kept, address: 127.0.0.1, port: \(port.number)"
      let agent = try await RunningAgent.start(
        Self.configuration([kept, "name: gone, address: 127.0.0.1", "name: last, address: 127.0.0.1"]), on: loop)
      var watch = try await StatusWatch(agent, "kept", is: "NotReachable")
      port.open()
      try await watch.expectUp("tcp_open")
      let before = try await agent.client.metrics()
      let answer = try await agent.reload(
        Self.configuration(["name: last, address: 127.0.0.1", kept, "name: new, address: 127.0.0.1"]))
      #expect(answer.status == 200)
      #expect(answer.body.contains("3 targets (1 added, 1 removed)"), "\(answer.body)")
      #expect(try await Self.names(agent) == ["last", "kept", "new"])
      let after = try await agent.client.metrics()
      #expect(!after.samples.contains { $0.labels["target"] == "gone" })
      #expect(after.transitions(of: "kept", to: "ReachableViaWiFi") == 1)
      #expect(
        after.runs(of: "tcp", "success", target: "kept") >= before.runs(of: "tcp", "success", target: "kept"))
      let since = ["target": "kept"]
      #expect(
        after.value("reachability_status_timestamp_seconds", since)
          == before.value("reachability_status_timestamp_seconds", since))
      #expect(after.value("reachd_targets") == 3)
      // The new one is probed, and the old one goes on with the next number.
      _ = try await agent.awaitLine("status_initial", target: "new")
      port.close()
      try await watch.expectDown("tcp_refused")
      #expect(agent.lines("status_initial", target: "kept").count == 1)
      #expect(agent.lines("status_initial", target: "last").count == 1)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test(
    "a target watched in another way keeps what it stood at, one that asks something else begins anew with its numbers")
  func changed() async throws {
    try await withEventLoop { loop in
      let (port, other) = (try FlappingPort(), try FlappingPort())
      let agent = try await RunningAgent.start(
        Self.configuration([
          "name: calm, address: 127.0.0.1, port: \(port.number)",
          "name: moved, address: 127.0.0.1, port: \(port.number)",
        ]), on: loop)
      for name in ["calm", "moved"] { _ = try await agent.awaitLine("status_initial", target: name) }
      port.open()
      for name in ["calm", "moved"] { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
      let answer = try await agent.reload(
        Self.configuration([
          "name: calm, address: 127.0.0.1, port: \(port.number), interval: 70ms, labels: { team: one }",
          "name: moved, address: 127.0.0.1, port: \(other.number)",
        ]))
      #expect(answer.body.contains("2 targets (2 changed)"), "\(answer.body)")
      let metrics = try await agent.client.metrics()
      #expect(
        metrics.value("reachability_transitions_total", ["target": "calm", "team": "one", "to": "ReachableViaWiFi"])
          == 1)
      #expect(metrics.statuses(of: "calm") == ["ReachableViaWiFi"])
      #expect(metrics.transitions(of: "moved", to: "ReachableViaWiFi") == 0)
      _ = try await eventually("a second first status", on: loop) {
        agent.lines("status_initial", target: "moved").count == 2 ? true : nil
      }
      let lines = agent.lines("status_initial", target: "moved")
      #expect(lines.last?["to"]?.text == "NotReachable")
      #expect(lines.last?["sequence"]?.number == 3)
      #expect(agent.lines("status_initial", target: "calm").count == 1)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a target that is taken out and put in again goes on with its numbers where state is kept")
  func putBack() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let state = "state_dir: \(folder.path)/state"
      let port = try FlappingPort()
      let target = "name: port, address: 127.0.0.1, port: \(port.number)"
      let agent = try await RunningAgent.start(Self.configuration([target], state), on: loop)
      _ = try await agent.awaitLine("status_initial", target: "port")
      port.open()
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "port")
      #expect(try await agent.reload(Self.configuration([], state)).status == 200)
      #expect(try await Self.names(agent).isEmpty)
      #expect(try await agent.reload(Self.configuration([target], state)).status == 200)
      _ = try await eventually("a second first status", on: loop) {
        agent.lines("status_initial", target: "port").count == 2 ? true : nil
      }
      #expect(agent.lines("status_initial", target: "port").last?["sequence"]?.number == 3)
      #expect(try await agent.client.metrics().transitions(of: "port", to: "ReachableViaWiFi") == 1)
      #expect(try await agent.stop() == 0)
    }
  }

  // MARK: Broken files

  @Test("a broken file is refused with all its problems, and what ran goes on", arguments: [false, true])
  func broken(bySignal: Bool) async throws {
    try await withEventLoop { loop in
      let good = Self.configuration(["name: here, address: 127.0.0.1"])
      let agent = try await RunningAgent.start(good, on: loop)
      try await agent.awaitReady()
      let bad = "targets:\n  - { name: here, adress: 127.0.0.1 }\n  - 256.1.1.1\nwho: 1\n"
      if bySignal {
        try agent.folder.write(bad, to: "reachd.yaml")
        agent.process.send(SIGHUP)
      } else {
        let answer = try await agent.reload(bad)
        #expect(answer.status == 500)
        let places = answer.body.split(separator: "\n").map { $0.dropFirst(agent.file.count) }
        #expect(places.count >= 3 && places.allSatisfy { $0.contains(": error: ") }, "\(answer.body)")
      }
      let line = try await agent.awaitLine("config_rejected")
      #expect(line["problems"]?.elements.count ?? 0 >= 3)
      let metrics = try await agent.client.metrics()
      #expect(metrics.value("reachd_config_last_reload_successful") == 0)
      #expect(metrics.statuses(of: "here") == ["ReachableViaWiFi"])
      let loadedAt = metrics.value("reachd_config_last_reload_success_timestamp_seconds")
      #expect(try await agent.reload(good).status == 200)
      let mended = try await agent.client.metrics()
      #expect(mended.value("reachd_config_last_reload_successful") == 1)
      #expect(mended.value("reachd_config_last_reload_success_timestamp_seconds") ?? 0 > loadedAt ?? .infinity)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a file that is gone is refused, and what ran goes on")
  func missing() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start(Self.configuration(["name: here, address: 127.0.0.1"]), on: loop)
      try agent.folder.remove("reachd.yaml")
      let answer = try await agent.client.get("/-/reload", method: "PUT")
      #expect(answer.status == 500 && answer.body.contains("no such file"), "\(answer.body)")
      #expect(try await Self.names(agent) == ["here"])
      #expect(try await agent.client.metrics().value("reachd_config_last_reload_successful") == 0)
      #expect(try await agent.stop() == 0)
    }
  }

  // MARK: Who may ask

  @Test("GET is no way to have it read again, and web.reload forbids it")
  func permission() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start(
        Self.configuration(["name: here, address: 127.0.0.1"], "web: { reload: false }"), on: loop)
      let get = try await agent.client.get("/-/reload")
      #expect(get.status == 405 && get.headers["allow"] == "POST, PUT")
      #expect(try await agent.client.get("/-/reload", method: "POST").status == 403)
      // The file decides, not the request that was refused.
      try agent.folder.write(Self.configuration(["name: here, address: 127.0.0.1"]), to: "reachd.yaml")
      agent.process.send(SIGHUP)
      _ = try await eventually("the reload by a signal", on: loop) {
        agent.lines("config_loaded").count == 2 ? true : nil
      }
      #expect(try await agent.client.get("/-/reload", method: "POST").status == 200)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("many who ask at once are all answered, and the file as it was last written holds")
  func storm() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start(Self.configuration(["name: first, address: 127.0.0.1"]), on: loop)
      let answers = await withTaskGroup(of: Int?.self) { group in
        for number in 0..<20 {
          group.addTask(executorPreference: loop) {
            try? await agent.reload(Self.configuration(["name: n\(number), address: 127.0.0.1"])).status
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      #expect(answers == Array(repeating: 200, count: 20))
      #expect(try await agent.reload(Self.configuration(["name: end, address: 127.0.0.1"])).status == 200)
      #expect(try await Self.names(agent) == ["end"])
      #expect(try await agent.stop() == 0)
    }
  }

  // MARK: Changes that are noticed

  @Test("with watch, an edit, a renamed file and an exchanged folder are noticed; a touch is not a change")
  func watch() async throws {
    try await withEventLoop { loop in
      func text(_ name: String) -> String { Self.configuration(["name: \(name), address: 127.0.0.1"], "watch: true") }
      let agent = try await RunningAgent.start(text("start"), on: loop)
      func awaitName(_ name: String) async throws {
        _ = try await eventually("the target \(name)", on: loop, state: { agent.process.errors }) {
          try await Self.names(agent) == [name] ? true : nil
        }
      }
      try agent.folder.write(text("edited"), to: "reachd.yaml")
      try await awaitName("edited")
      try agent.folder.write(text("renamed"), to: "new.yaml")
      try agent.folder.rename("new.yaml", to: "reachd.yaml")
      try await awaitName("renamed")
      // As a ConfigMap is exchanged: the file leads through a link to a folder that is replaced.
      for (folder, name) in [("one", "mapped"), ("two", "swapped")] {
        try agent.folder.makeFolder(folder)
        try agent.folder.write(text(name), to: folder + "/reachd.yaml")
      }
      try agent.folder.link("data", to: "one")
      try agent.folder.link("link", to: "data/reachd.yaml")
      try agent.folder.rename("link", to: "reachd.yaml")
      try await awaitName("mapped")
      try agent.folder.link("data_tmp", to: "two")
      try agent.folder.rename("data_tmp", to: "data")
      try await awaitName("swapped")
      let loads = agent.lines("config_loaded").count
      // The same again, and then something else: only the latter is a reload.
      try agent.folder.write(text("swapped"), to: "two/reachd.yaml")
      agent.process.send(SIGHUP)
      _ = try await eventually("the reload", on: loop) { agent.lines("config_loaded").count > loads ? true : nil }
      try agent.folder.write("targets: [256.1.1.1]\n", to: "two/reachd.yaml")
      _ = try await agent.awaitLine("config_rejected")
      #expect(agent.lines("config_loaded").count == loads + 1)
      #expect(try await Self.names(agent) == ["swapped"])
      #expect(try await agent.stop() == 0)
    }
  }

  // MARK: Everything else in the file

  @Test("the places that are served and the log's output, format and level change with the file")
  func service() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let target = "name: here, address: 127.0.0.1"
      // One address stays, so that the reload can be asked for again.
      let socket = folder.path + "/extra.sock"
      let log = folder.path + "/reachd.log"
      let agent = try await RunningAgent.start(
        Self.configuration([target], "web: { listen: [ \"127.0.0.1:0\" ] }"), launcher: ["/usr/bin/env"],
        overridesFormat: false, on: loop)
      let more =
        "web: { listen: [ \"127.0.0.1:0\", \"unix:\(socket)\" ] }\n"
        + "log: { output: \(log), format: logfmt, level: debug }"
      #expect(try await agent.reload(Self.configuration([target], more)).status == 200)
      let over = try runProgram(["curl", "--silent", "--unix-socket", socket, "http://localhost/-/healthy"])
      #expect(over.output == "reachd is healthy\n")
      _ = try await eventually("lines in the log's file", on: loop) {
        (try? textOfFile(log))?.contains("event=probe_finished") == true ? true : nil
      }
      // The file is moved away, as logrotate does, and opened anew.
      try folder.rename("reachd.log", to: "reachd.log.1")
      agent.process.send(SIGHUP)
      _ = try await eventually("a new file", on: loop) { try? textOfFile(log) }
      #expect(
        try await agent.reload(Self.configuration([target], "web: { listen: [ \"127.0.0.1:0\" ] }")).status == 200)
      #expect(!folder.contains("extra.sock"))
      // What cannot be had leaves all as it is.
      let refused = try await agent.reload(
        Self.configuration(["name: other, address: 127.0.0.1"], "web: { listen: [ \"127.0.0.1:0\", \"192.0.2.1:1\" ] }")
      )
      #expect(refused.status == 500 && refused.body.contains("no interface of this host"), "\(refused.body)")
      #expect(try await Self.names(agent) == ["here"])
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("the detail of metrics changes with the file, and counters go on")
  func detail() async throws {
    try await withEventLoop { loop in
      let port = try TestPort(.open)
      let target = "name: here, address: 127.0.0.1, port: \(port.number)"
      let agent = try await RunningAgent.start(Self.configuration([target]), on: loop)
      try await agent.awaitRuns(3, of: "tcp", "success", target: "here")
      #expect(try await agent.reload(Self.configuration([target], "metrics: { detail: compact }")).status == 200)
      let compact = try await agent.client.metrics()
      #expect(compact.values("reachability_flag").isEmpty)
      #expect(try await agent.reload(Self.configuration([target], "metrics: { detail: full }")).status == 200)
      let full = try await agent.client.metrics()
      #expect(!full.values("reachability_flag").isEmpty)
      #expect(full.runs(of: "tcp", "success", target: "here") >= 3)
      #expect(agent.lines("status_initial", target: "here").count == 1)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("the service manager is told of the start, of life, of each reload and its end, and of the stop")
  func serviceManager() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      let manager = try NotifySocket(in: folder, on: loop)
      let good = Self.configuration(["name: here, address: 127.0.0.1"])
      let agent = try await RunningAgent.start(
        good, under: ["/usr/bin/env", "NOTIFY_SOCKET=" + manager.path, "WATCHDOG_USEC=100000"], on: loop)
      // The kernel keeps few datagrams that nobody reads, so each step is read as it comes.
      func awaitWords(_ words: [Substring]) async throws {
        _ = try await eventually("\(words)", on: loop, state: { "\(manager.messages)" }) {
          manager.messages.filter { $0 != "WATCHDOG=1" }.map { $0.prefix { $0 != "\n" } } == words ? true : nil
        }
      }
      _ = try await eventually("signs of life", on: loop) {
        manager.messages.count { $0 == "WATCHDOG=1" } > 2 ? true : nil
      }
      #expect(try await agent.reload(good).status == 200)
      try await awaitWords(["READY=1", "RELOADING=1", "READY=1"])
      #expect(try await agent.reload("who: 1\n").status == 500)
      try await awaitWords(["READY=1", "RELOADING=1", "READY=1", "RELOADING=1", "READY=1"])
      agent.process.send(SIGTERM)
      try await awaitWords(["READY=1", "RELOADING=1", "READY=1", "RELOADING=1", "READY=1", "STOPPING=1"])
      #expect(try await agent.process.exitStatus() == 0)
      #expect(manager.messages.contains { $0.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") })
    }
  }

  // MARK: Resources

  @Test("a hundred reloads leave descriptors, threads and memory where they were")
  func hundred() async throws {
    try await withEventLoop { loop in
      let server = try FakeNameServer(loop) { .replies([$0.addresses([.loopback])]) }
      func text(_ round: Int) -> String {
        let stable = (0..<50).map { "name: s\($0), address: 127.0.0.1" }
        // Each round has backends of its own, with sockets of their own.
        let changing = (0..<50).map { number in
          "name: c\(number), host: c\(round).example, interval: 1s, "
            + "probes: [ { dns: { server: \"127.0.0.1:\(server.port)\", timeout: \(500 + round % 7)ms } } ]"
        }
        return Self.configuration(stable + changing)
      }
      let agent = try await RunningAgent.start(text(0), on: loop)
      var (descriptors, memory) = (0, 0)
      for round in 1...120 {
        #expect(try await agent.reload(text(round)).status == 200)
        if round == 20 {
          descriptors = try Self.descriptors(of: agent)
          memory = try agent.process.residentKibibytes ?? 0
        }
      }
      let ends = (try Self.descriptors(of: agent), try agent.process.residentKibibytes ?? 0)
      // A few channels may be on their way out.
      #expect(ends.0 <= descriptors + 8, "\(descriptors) descriptors became \(ends.0)")
      #expect(ends.1 <= memory + 4_096, "\(memory) KiB became \(ends.1)")
      print("a hundred reloads: \(descriptors) -> \(ends.0) descriptors, \(memory) -> \(ends.1) KiB")
      let threads = try runProgram(["ls", "/proc/\(agent.process.processID)/task"]).output.split(separator: "\n")
      #expect(threads.count == 1)
      #expect(try await agent.stop() == 0)
    }
  }

  private static func descriptors(of agent: RunningAgent) throws -> Int {
    try runProgram(["ls", "/proc/\(agent.process.processID)/fd"]).output.split(separator: "\n").count
  }
}
