import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// `reachd health`, as a container's health check runs it.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(5)))
struct HealthTests {
  /// Where the agent serves when nobody says: the port is free in a namespace of the test's own.
  private static let standard: UInt16 = 10120

  private static func health(_ words: [String], on loop: EventLoop) async throws -> Reachd.Ended {
    try await Reachd.run(["health"] + words, on: loop)
  }

  private static func isOneLine(_ text: String) -> Bool { text.hasSuffix("\n") && text.count { $0 == "\n" } == 1 }

  @Test("an agent that runs is healthy; one that has stopped, or does not answer, is not")
  func life() async throws {
    try await withNetworkNamespace { loop, _ in
      let agent = try await RunningAgent.start("targets: []\n", port: Self.standard, on: loop)
      let alive = try await Self.health(["--config", agent.file], on: loop)
      #expect(alive.status == 0, "\(alive.errors)")
      #expect(alive.output == "healthy: http://127.0.0.1:10120/-/healthy answers 200\n")
      #expect(alive.errors == "")

      agent.process.send(SIGSTOP)
      let stuck = try await Self.health(["--config", agent.file, "--timeout", "300ms"], on: loop)
      #expect(stuck.status == 1 && stuck.output == "")
      #expect(Self.isOneLine(stuck.errors) && stuck.errors.contains("does not answer in time"), "\(stuck.errors)")
      agent.process.send(SIGCONT)

      #expect(try await agent.stop() == 0)
      let gone = try await Self.health(["--config", agent.file], on: loop)
      #expect(gone.status == 1 && gone.output == "")
      #expect(Self.isOneLine(gone.errors) && gone.errors.contains("connect: ECONNREFUSED; no agent"), "\(gone.errors)")
    }
  }

  @Test("it is asked where the first entry of web.listen points, at loopback where that is every address")
  func places() async throws {
    try await withNetworkNamespace { loop, _ in
      let folder = try TestFolder()
      let path = "\(folder.path)/reachd.sock"
      let agent = try await RunningAgent.start(
        "targets: []\n",
        options: [
          "--listen", ":7001", "--listen", "0.0.0.0:7002", "--listen", "[::1]:7003", "--listen", "unix:\(path)",
        ],
        on: loop)
      for (listen, asked) in [
        (":7001", "http://127.0.0.1:7001/"), ("0.0.0.0:7002", "http://127.0.0.1:7002/"),
        ("[::]:7001", "http://[::1]:7001/"), ("[::1]:7003", "http://[::1]:7003/"), ("unix:\(path)", "unix:\(path)/"),
      ] {
        let file = try folder.write("web: { listen: [\"\(listen)\", \"127.0.0.1:9\"] }\n", to: "reachd.yaml")
        let ended = try await Self.health(["--config", file], on: loop)
        #expect(ended.status == 0 && ended.output.hasPrefix("healthy: \(asked)"), "\(listen): \(ended)")
      }
      for url in ["http://127.0.0.1:7001", "http://localhost:7001/", "http://[::1]:7003/-/ready", "unix:\(path)"] {
        let ended = try await Self.health(["--url", url], on: loop)
        #expect(ended.status == 0, "\(url): \(ended)")
      }
      let missing = try await Self.health(["--url", "http://127.0.0.1:7001/missing"], on: loop)
      #expect(missing.status == 1 && missing.errors.contains("answers 404"), "\(missing.errors)")
      #expect(try await agent.stop() == 0)
      for (listen, why) in [
        ("[]", "names nobody"), ("[\"127.0.0.1:0\"]", "leaves the port to the kernel"), ("[\"unix:/none\"]", "ENOENT"),
      ] {
        let file = try folder.write("web: { listen: \(listen) }\n", to: "reachd.yaml")
        let ended = try await Self.health(["--config", file], on: loop)
        #expect(ended.status == 1 && Self.isOneLine(ended.errors) && ended.errors.contains(why), "\(ended)")
      }
    }
  }

  @Test(
    "who asks for a password, for a client's certificate or for patience lives",
    .enabled(if: TestAuthority.isAvailable, "needs openssl"),
    arguments: [
      (
        0, "http", "basic_auth_users: { a: $2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u }",
        "answers 401"
      ),
      (1, "https", "", "answers 200"),
      (2, "https", "client_auth_type: RequireAndVerifyClientCert", "without a certificate of its own"),
      (
        3, "https", "client_auth_type: RequireAndVerifyClientCert\n  max_version: TLS12",
        "without a certificate of its own"
      ),
      (4, "http", "rate_limit: { interval: 1h, burst: 1 }", "answers 429"),
    ])
  func protected(number: Int, scheme: String, text: String, answer: String) async throws {
    let authority = try TestAuthority()
    // For a name that nobody asks it by.
    let pair = try authority.issue("server", for: ["DNS:reachd.example"])
    try await withNetworkNamespace { loop, _ in
      let folder = try TestFolder()
      let isSecure = scheme == "https"
      let tls =
        "tls_server_config:\n  cert_file: \(pair.certificate)\n  key_file: \(pair.key)\n  "
        + (text.isEmpty ? "" : text + (text.contains("client_") ? "\n  client_ca_file: \(authority.certificate)" : ""))
      let web = try folder.write((isSecure ? tls : text) + "\n", to: "web.yaml")
      let agent = try await RunningAgent.start(
        "targets: []\nweb: { config: \(web) }\n", port: Self.standard, on: loop)
      // The first of those that are counted.
      if number == 4 { _ = try await agent.client.get("/-/healthy") }
      let ended = try await Self.health(["--config", agent.file], on: loop)
      #expect(ended.status == 0 && ended.errors == "", "\(ended)")
      #expect(
        ended.output.contains("\(scheme)://127.0.0.1:10120/-/healthy ") && ended.output.contains(answer), "\(ended)")
      // What is spoken can be told even where the file cannot be read any more.
      if number == 1 || number == 0 {
        try folder.remove("web.yaml")
        let blind = try await Self.health(["--config", agent.file], on: loop)
        #expect(blind.status == 0 && blind.output == ended.output, "\(blind)")
        #expect(Self.isOneLine(blind.errors) && blind.errors.hasPrefix("\(web):1:1: error: "), "\(blind.errors)")
      }
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a broken configuration is named, and does not make the agent a dead one")
  func broken() async throws {
    try await withNetworkNamespace { loop, _ in
      let agent = try await RunningAgent.start("targets: []\n", port: Self.standard, on: loop)
      let folder = try TestFolder()
      let torn = try folder.write("targets: [\n", to: "torn.yaml")
      let guessed = try await Self.health(["--config", torn], on: loop)
      #expect(guessed.status == 0 && guessed.output.contains("answers 200"), "\(guessed)")
      #expect(Self.isOneLine(guessed.errors) && guessed.errors.hasPrefix("\(torn):"), "\(guessed.errors)")
      // What is wrong elsewhere in the file does not matter.
      let wrong = try folder.write("targets: [256.1.1.1]\nweb: { listen: [\"127.0.0.1:10120\"] }\n", to: "wrong.yaml")
      let asked = try await Self.health(["--config", wrong], on: loop)
      #expect(asked.status == 0 && asked.errors == "", "\(asked)")
      #expect(try await agent.stop() == 0)
      let absent = try await Self.health(["--config", "\(folder.path)/none.yaml"], on: loop)
      #expect(absent.status == 1 && Self.isOneLine(absent.errors), "\(absent.errors)")
      #expect(absent.errors.hasPrefix("\(folder.path)/none.yaml: error: "), "\(absent.errors)")
    }
  }

  @Test(
    "whatever answers instead of an agent is not healthy, and is not listened to for long",
    arguments: [
      "", "\n", "HTTP/1.1\n", "HTTP/1.1 20 OK\n", "HTTP/1.1 2000 OK\n", "HTTP/1.1 99999999999999999999 OK\n",
      "HTTP/2 200\n",
      "HTTP/1.1 200", "220 mail.example ESMTP\r\n", String(repeating: "x", count: 100_000), "HTTP/1.1 503 no\r\n\r\n",
    ])
  func hostile(answer: String) async throws {
    try await withEventLoop { loop in
      let port = try TestPort(.open)
      loop.spawn {
        while let client = try? await port.acceptNext(on: loop) {
          _ = try? client.send(Array(answer.utf8))
          client.close()
        }
      }
      for scheme in ["http", "https"] {
        let url = "\(scheme)://127.0.0.1:\(port.number)"
        let ended = try await Self.health(["--url", url, "--timeout", "2s"], on: loop)
        #expect(ended.status == 1 && ended.output == "" && Self.isOneLine(ended.errors), "\(url): \(ended)")
      }
      withExtendedLifetime(port) {}
    }
  }

  @Test("a URL or a time that is none is a mistake of the command line")
  func usage() async throws {
    for words in [
      ["--url", "127.0.0.1:10120"], ["--url", "unix:relative"], ["--timeout", "3"], ["--timeout", "0s"], ["x"],
    ] {
      let ended = try await withEventLoop { loop in try await Self.health(words, on: loop) }
      #expect(ended.status == 64 && ended.errors.contains("\nusage: reachd health"), "\(words): \(ended)")
    }
  }
}
