import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What `/probe` and `/logs` of the running agent answer.
@Suite(.timeLimit(.minutes(4))) struct ProbeEndpointTests {
  private static func configuration(_ targets: String, allow: String = "[127.0.0.0/8]") -> String {
    """
    targets: \(targets)
    probe_allow: \(allow)
    default_module: connect
    modules:
      connect: { backend: tcp, timeout: 5s }
      banner: { backend: tcp, query_response: [ { expect: "^hello (.*)$", labels: [ { name: who, value: "${1}" } ] } ] }
      way: { backend: route }
      interface: { backend: link }
    """
  }

  @Test("a probe is answered with metrics, whether it succeeds or fails, and a bad request with a word")
  func answers() async throws {
    try await withEventLoop { loop in
      let open = try TestPort(.open)
      let closed = try TestPort(.closed)
      let agent = try await RunningAgent.start(Self.configuration("[127.0.0.2]"), on: loop)
      let good = try await agent.client.get("/probe?module=connect&target=127.0.0.1:\(open.number)")
      #expect(good.status == 200 && good.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
      let metrics = try ExpositionText(parsing: good.body)
      #expect(metrics.value("probe_success") == 1 && metrics.value("probe_ip_protocol") == 4)
      #expect(metrics.value("probe_timeout_seconds") == 5)
      #expect((metrics.value("probe_duration_seconds") ?? -1) > 0)
      let bad = try await agent.client.get("/probe?target=127.0.0.1:\(closed.number)")
      #expect(bad.status == 200)
      #expect(try ExpositionText(parsing: bad.body).value("probe_success") == 0)

      for (query, status, words) in [
        ("", 400, "Target parameter is missing"), ("module=nonsense", 400, "Target parameter is missing"),
        ("target=127.0.0.1:1&module=nonsense", 400, "Unknown module \"nonsense\""),
        ("target=http://127.0.0.1/", 400, "is a URL"), ("target=127.0.0.1:http", 400, "is not a port"),
        ("target=192.0.2.1:80", 403, "probe_allow"), ("target=169.254.169.254:80", 403, "probe_allow"),
        ("target=www.example.com:80", 403, "probe_allow"),
      ] {
        let answer = try await agent.client.get("/probe?\(query)")
        #expect(answer.status == status && answer.body.contains(words), "\(query): \(answer.body)")
      }
      // What was asked for and what is known of it, once.
      #expect(try await agent.client.metrics().value("reachd_module_unknown_total") == 1)
      let logs = try await agent.client.get("/logs?target=127.0.0.1:\(closed.number)")
      #expect(logs.status == 200 && logs.body.contains("ECONNREFUSED"))
      #expect(try await agent.client.get("/logs?target=127.0.0.2").body.contains("\"target\":\"127.0.0.2\""))
      #expect(try await agent.client.get("/logs?target=nobody").status == 404)
      #expect(try await agent.client.get("/logs?id=2").body == logs.body)
      #expect(try await agent.client.get("/logs?id=x").status == 400)
      #expect(try await agent.client.get("/").body.contains("<td>connect<td>127.0.0.1:\(closed.number)<td>Failure"))
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("the debug page has the steps, the metrics and the module, and the target is decoded once")
  func debug() async throws {
    try await withEventLoop { loop in
      let open = try TestPort(.open)
      let agent = try await RunningAgent.start(Self.configuration("[127.0.0.2]"), on: loop)
      let page = try await agent.client.get("/probe?debug=true&module=connect&target=127.0.0.1%3A\(open.number)")
      #expect(page.status == 200 && page.headers["content-type"] == "text/plain; charset=utf-8")
      let parts = [
        "Logs for the probe:\n", "\n\n\nMetrics that would have been returned:\n# HELP ",
        "\n\n\nModule configuration:\nconnect:\n  backend: tcp\n",
      ]
      #expect(parts.allSatisfy { page.body.contains($0) }, "\(page.body)")
      #expect(page.body.contains("msg=\"Successfully dialed\""))
      let twice = try await agent.client.get("/probe?module=connect&target=127.0.0.1%253A\(open.number)")
      #expect(twice.status == 400)
    }
  }

  @Test("declared targets may be asked for by their name, with nothing else allowed")
  func declared() async throws {
    try await withEventLoop { loop in
      let open = try TestPort(.open)
      let targets = "[ { name: shop, address: 127.0.0.1, port: \(open.number) }, { name: loop, interface: lo } ]"
      let agent = try await RunningAgent.start(Self.configuration(targets, allow: "[]"), on: loop)
      for query in [
        "target=shop", "target=127.0.0.1:\(open.number)", "target=shop&module=way", "target=loop&module=interface",
        "target=shop&module=interface",
      ] {
        let answer = try await agent.client.get("/probe?\(query)")
        let metrics = try ExpositionText(parsing: answer.body)
        #expect(answer.status == 200 && metrics.value("probe_success") == 1, "\(query): \(answer.body)")
      }
      #expect(try await agent.client.get("/probe?target=127.0.0.1:1").status == 403)
      let portless = try await agent.client.get("/probe?target=loop&module=connect")
      #expect(portless.status == 200)
      #expect(try ExpositionText(parsing: portless.body).value("probe_success") == 0)
    }
  }

  @Test("a reload changes the modules, what is allowed and what is declared")
  func reload() async throws {
    try await withEventLoop { loop in
      let open = try TestPort(.open)
      let agent = try await RunningAgent.start(Self.configuration("[127.0.0.2]", allow: "[]"), on: loop)
      let probe = "/probe?target=127.0.0.1:\(open.number)"
      #expect(try await agent.client.get(probe).status == 403)
      let declared = Self.configuration("[ \"127.0.0.1:\(open.number)\" ]", allow: "[]")
      #expect(try await agent.reload(declared).status == 200)
      #expect(try await agent.client.get(probe).status == 200)
      #expect(try await agent.reload(Self.configuration("[127.0.0.2]", allow: "[127.0.0.0/8]")).status == 200)
      #expect(try await agent.client.get(probe).status == 200)
      let other = "targets: [127.0.0.2]\nprobe_allow: [127.0.0.0/8]\nmodules: { other: { backend: tcp } }\n"
      #expect(try await agent.reload(other).status == 200)
      #expect(try await agent.client.get(probe).status == 400)
      #expect(try await agent.client.get(probe + "&module=other").status == 200)
      #expect(try await agent.client.get("/config").body.contains("modules:\n  other:\n    backend: tcp\n"))
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("no storm of requests takes more descriptors than there are, and the agent stays as it is")
  func storm() async throws {
    try await withEventLoop { loop in
      let full = try TestPort(.full)
      let agent = try await RunningAgent.start(
        Self.configuration("[127.0.0.2]"), under: ["prlimit", "--nofile=64:64"], on: loop)
      let codes = LoopConfined([Int](), on: loop)
      let asked = (0..<24).map { _ in
        loop.spawn {
          let answer = try? await agent.client.get("/probe?module=connect&target=127.0.0.1:\(full.number)")
          if let answer { codes.withState { $0.append(answer.status) } }
        }
      }
      for task in asked { await task.value }
      // A client that has had its share of the connections is not even listened to.
      let answers = codes.withState { $0 }
      #expect(!answers.isEmpty && answers.allSatisfy { $0 == 503 || $0 == 200 }, "\(answers)")
      let metrics = try await agent.client.metrics(beginningWith: "process_")
      #expect(metrics.value("process_open_fds") ?? 64 < 64)
      #expect(try await agent.client.get("/-/healthy").status == 200)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a probe that is under way when the agent stops does not hold it up")
  func stop() async throws {
    try await withEventLoop { loop in
      let full = try TestPort(.full)
      let agent = try await RunningAgent.start(Self.configuration("[127.0.0.2]"), on: loop)
      let asked = loop.spawn { _ = try? await agent.client.get("/probe?target=127.0.0.1:\(full.number)") }
      _ = try await eventually("the probe", on: loop) {
        try await agent.client.metrics(beginningWith: "process_open_fds").value("process_open_fds").map { $0 > 0 }
          ?? nil
      }
      #expect(try await agent.stop() == 0)
      await asked.value
    }
  }
}
