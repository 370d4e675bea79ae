import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// `web.config`: TLS and passwords on the running agent.
@Suite(
  .enabled(
    if: areClientsThere && TestAuthority.isAvailable, "needs Debian's packages curl, openssl and prometheus"),
  .timeLimit(.minutes(5)))
struct WebConfigTests {
  /// "secret".
  private static let hash = "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"

  /// An agent's folder: the file, a certificate with its key, and the authority.
  private struct Stage: Sendable {
    let authority: TestAuthority
    let pair: TestAuthority.Pair
    let folder: TestFolder
    let file: String

    init(users: Bool = true, clients: Bool = false) throws {
      authority = try TestAuthority()
      pair = try authority.issue("server", for: ["DNS:localhost", "IP:127.0.0.1"])
      folder = try TestFolder()
      file = try folder.write(
        "tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n"
          + (clients
            ? "  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: \(authority.certificate)\n" : "")
          + (users ? "basic_auth_users:\n  prometheus: \(hash)\n" : ""), to: "web.yaml")
      try put(pair)
    }

    /// Writes a certificate and its key to where the file says they are.
    func put(_ pair: TestAuthority.Pair) throws {
      try folder.write(try textOfFile(pair.certificate), to: "server.crt")
      try folder.write(try textOfFile(pair.key), to: "server.key")
    }

    func start(port: UInt16 = 0, on loop: EventLoop) async throws -> RunningAgent {
      try await RunningAgent.start(
        "targets: [127.0.0.1]\nweb: { config: \(file) }\n", port: port, on: loop)
    }

    /// What curl reports of a path of the agent's.
    func ask(
      _ agent: RunningAgent, _ path: String = "metrics", user: String = "prometheus:secret", on loop: EventLoop
    ) async throws -> String {
      let curl = try ChildProcess(
        [
          "curl", "--silent", "--ipv4", "--cacert", authority.certificate, "--user", user, "--write-out",
          "%{stderr}%{exitcode} %{http_code}", "https://localhost:\(agent.client.port)/\(path)",
        ], on: loop)
      _ = try await curl.exitStatus()
      return curl.errors
    }
  }

  @Test("pages are served with TLS to those who know the password, and nothing shows a secret")
  func served() async throws {
    let stage = try Stage()
    try await withEventLoop { loop in
      let agent = try await stage.start(on: loop)
      let started = try await agent.awaitLine("agent_started")
      #expect(started["message"]?.text?.contains("open https://127.0.0.1:") == true)
      #expect(try await stage.ask(agent, on: loop) == "0 200")
      for path in ["metrics", "-/healthy", "-/ready", "missing"] {
        #expect(try await stage.ask(agent, path, user: "prometheus:wrong", on: loop) == "0 401")
      }
      let curl = try ChildProcess(
        [
          "curl", "--silent", "--ipv4", "--insecure", "--user", "prometheus:secret",
          "https://localhost:\(agent.client.port)/config",
        ], on: loop)
      #expect(try await curl.exitStatus() == 0)
      #expect(curl.output.contains("config: \(stage.file)\n"))
      #expect(!curl.output.contains("$2y$"))
      #expect(try await agent.stop() == 0)
      #expect(!agent.process.errors.contains("$2y$") && !agent.process.errors.contains("secret"))
    }
  }

  @Test("a certificate, a password and the file itself are taken when they change, and what is broken is said once")
  func rotation() async throws {
    let stage = try Stage()
    let other = try TestAuthority("other").issue("other", for: ["DNS:localhost"])
    let next = try stage.authority.issue("next", for: ["DNS:localhost"])
    try await withEventLoop { loop in
      let agent = try await stage.start(on: loop)
      #expect(try await stage.ask(agent, on: loop) == "0 200")
      func loaded() -> Int { agent.lines("config_loaded").count { $0["file"]?.text == stage.file } }

      // A certificate without its key.
      try stage.folder.write(try textOfFile(other.certificate), to: "server.crt")
      let trouble = try await agent.awaitLine("self_check") { $0["check"]?.text == "web_config" }
      #expect(trouble["problem"]?.text?.contains("\(stage.file):3:13: error: the key is not the certificate's") == true)
      #expect(try await stage.ask(agent, on: loop) == "0 200")
      // Whole again, with another pair of the same authority.
      try stage.put(next)
      try await eventually("the new pair", on: loop) { loaded() == 1 ? () : nil }
      #expect(try await stage.ask(agent, on: loop) == "0 200")
      #expect(agent.lines("self_check").count { $0["check"]?.text == "web_config" } == 1)

      // A file that is broken leaves users and TLS as they are.
      let text = try textOfFile(stage.file)
      try stage.folder.write("basic_auth_users: {", to: "web.yaml")
      try await eventually("a second warning", on: loop) {
        agent.lines("self_check").count { $0["check"]?.text == "web_config" } == 2 ? () : nil
      }
      #expect(try await stage.ask(agent, user: "prometheus:wrong", on: loop) == "0 401")
      // The file is renamed into place, as editors do, with another user.
      let renamed = text.split(separator: "prometheus:").joined(separator: "grafana:")
      let new = try stage.folder.write(renamed, to: "web.yaml.new")
      #expect(unsafe rename(new, stage.file) == 0)
      try await eventually("the new user", on: loop) { loaded() == 2 ? () : nil }
      #expect(try await stage.ask(agent, on: loop) == "0 401")
      #expect(try await stage.ask(agent, user: "grafana:secret", on: loop) == "0 200")
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a file that is emptied or half written opens no door, until the configuration is read again")
  func truncation() async throws {
    let stage = try Stage()
    try await withEventLoop { loop in
      let agent = try await stage.start(on: loop)
      func warnings() -> [String] {
        agent.lines("self_check").filter { $0["check"]?.text == "web_config" }.compactMap { $0["problem"]?.text }
      }
      try stage.folder.write("", to: "web.yaml")
      try await eventually("a warning", on: loop) { warnings().count == 1 ? () : nil }
      #expect(warnings()[0].contains("no longer asks for TLS and for passwords"))
      #expect(try await stage.ask(agent, user: "prometheus:wrong", on: loop) == "0 401")
      try stage.folder.write("tls_server_config:\n  cert_file: server.crt\n  key_file: server.key\n", to: "web.yaml")
      try await eventually("another warning", on: loop) { warnings().count == 2 ? () : nil }
      #expect(warnings()[1].contains("no longer asks for passwords"))
      #expect(try await stage.ask(agent, user: "prometheus:wrong", on: loop) == "0 401")
      agent.process.send(SIGHUP)
      try await eventually("the reload", on: loop) { agent.lines("config_loaded").count == 2 ? () : nil }
      #expect(try await stage.ask(agent, user: "prometheus:wrong", on: loop) == "0 200")
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("check names each mistake with its place, and run does not start with one")
  func mistakes() async throws {
    let stage = try Stage()
    let foreign = try TestAuthority("other").issue("foreign", for: [])
    try stage.folder.write(try textOfFile(foreign.key), to: "server.key")
    let file = try stage.folder.write("targets: [127.0.0.1]\nweb: { config: web.yaml }\n", to: "reachd.yaml")
    try await withEventLoop { loop in
      func problems(_ command: String) async throws -> String {
        let ended = try await Reachd.run([command, "--config", file], on: loop)
        #expect(ended.status == 1)
        return ended.errors
      }
      let mismatch =
        "\(stage.file):3:13: error: the key is not the certificate's; write the pair that was made together\n"
      #expect(try await problems("check") == mismatch)
      #expect(try await problems("run") == mismatch)
      try stage.folder.write("basic_auth_users:\n  a: secret\nrate_limt: {}\n", to: "web.yaml")
      let found = try await problems("check")
      #expect(found.contains("\(stage.file):2:6: error: the password of this user is no bcrypt hash"))
      #expect(
        found.contains("\(stage.file):3:1: error: unknown key 'rate_limt' in the file; did you mean 'rate_limit'?"))
      #expect(!found.contains("secret"))
      #expect(unsafe unlink(stage.file) == 0)
      #expect(try await problems("check").hasPrefix("\(stage.file):1:1: error: there is no such file"))
      // A probe needs no key.
      #expect(try await Reachd.run(["probe", "--config", file, "127.0.0.1"], on: loop).status == 0)
      try stage.put(stage.pair)
      try stage.folder.write("tls_server_config: {cert_file: server.crt, key_file: server.key}\n", to: "web.yaml")
      #expect(try await Reachd.run(["check", "--config", file], on: loop).status == 0)
    }
  }

  @Test("a reload puts another file in force, or changes nothing at all")
  func reload() async throws {
    let stage = try Stage()
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start("targets: [127.0.0.1]\n", on: loop)
      #expect(try await agent.client.get("/-/healthy").status == 200)
      let broken = try stage.folder.write("basic_auth_users: {a: b}\n", to: "broken.yaml")
      let refused = try await agent.reload("targets: [127.0.0.1]\nweb: { config: \(broken) }\n")
      #expect(refused.status == 500)
      #expect(refused.body.contains("\(broken):1:23: error: the password of this user is no bcrypt hash"))
      #expect(try await agent.client.get("/-/healthy").status == 200)
      // The file is good, and the targets are not.
      #expect(try await agent.reload("targets: [256.0.0.1]\nweb: { config: \(stage.file) }\n").status == 500)
      #expect(try await agent.client.get("/-/healthy").status == 200)
      let accepted = try await agent.reload("targets: [127.0.0.1]\nweb: { config: \(stage.file) }\n")
      #expect(accepted.status == 200, "\(accepted.body)")
      #expect(try await stage.ask(agent, on: loop) == "0 200")
      #expect(try await stage.ask(agent, user: "prometheus:wrong", on: loop) == "0 401")
      #expect(try await agent.stop() == 0)
    }
  }

  @Test(
    "Debian's Prometheus scrapes with a certificate and a password of its own",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"))
  func prometheus() async throws {
    let stage = try Stage(clients: true)
    let client = try stage.authority.issue("prometheus", for: ["DNS:prometheus.example"])
    try await withNetworkNamespace { loop, network in
      let agent = try await stage.start(port: 10120, on: loop)
      let prometheus = try await Prometheus.start(
        """
        global: { scrape_interval: 250ms, scrape_timeout: 250ms }
        scrape_configs:
          - job_name: reachd
            scheme: https
            tls_config:
              ca_file: \(stage.authority.certificate)
              cert_file: \(client.certificate)
              key_file: \(client.key)
              server_name: localhost
            basic_auth: { username: prometheus, password: secret }
            static_configs: [ { targets: ["127.0.0.1:10120"] } ]
          - job_name: stranger
            scheme: https
            tls_config: { ca_file: \(stage.authority.certificate), server_name: localhost }
            basic_auth: { username: prometheus, password: secret }
            static_configs: [ { targets: ["127.0.0.1:10120"] } ]
        """, on: loop)
      _ = try await prometheus.awaitResult(of: "up{job=\"reachd\"}") { $0["value"]?[1]?.text == "1" }
      _ = try await prometheus.awaitResult(of: "up{job=\"stranger\"}") { $0["value"]?[1]?.text == "0" }
      _ = try await prometheus.awaitResult(of: "reachability_status{target=\"127.0.0.1\"}") { _ in true }
      #expect(try await agent.stop() == 0)
    }
  }
}
