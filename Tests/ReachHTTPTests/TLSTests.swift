import Glibc
import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// curl, as users have it, against the server with TLS.
@Suite(
  .enabled(
    if: Curl.isAvailable && TestAuthority.isAvailable,
    "needs Debian's packages curl and openssl, and runs wherever all tests are required"),
  .timeLimit(.minutes(4)))
struct TLSTests {
  /// An authority that several tests share, with a pair for the server.
  struct Stage: Sendable {
    let authority: TestAuthority
    let pair: TestAuthority.Pair

    init(key: TestAuthority.KeyKind = .elliptic) throws {
      authority = try TestAuthority()
      pair = try authority.issue("server", for: ["DNS:localhost", "IP:127.0.0.1"], key: key)
    }

    func policy(_ change: (inout TLSSettings) -> Void = { _ in }) -> HTTPPolicy {
      var policy = HTTPPolicy()
      var settings = TLSSettings(certificate: .file(pair.certificate), key: .file(pair.key))
      change(&settings)
      policy.tls = settings
      return policy
    }

    /// What curl reports with these options; it trusts the authority.
    func ask(
      _ options: [String], _ path: String = "/numbers", reporting report: String = "%{exitcode} %{http_code}",
      on address: ListenAddress = HTTPServerTests.loopback,
      with change: (inout TLSSettings) -> Void = { _ in }
    ) async throws -> String {
      try await Curl.run(
        ["--cacert", authority.certificate] + options, path, reporting: report, on: address, policy: policy(change))
    }
  }

  @Test(
    "both versions of today are spoken, and HTTP/2 is declined in favour of HTTP/1.1",
    arguments: [
      ["--tlsv1.3", "--http2"], ["--tls-max", "1.2", "--http2"], ["--tls-max", "1.2", "--http1.0"],
      ["--tlsv1.3", "--http1.1"],
    ])
  func versions(options: [String]) async throws {
    for kind in [TestAuthority.KeyKind.elliptic, .rsa] {
      let stage = try Stage(key: kind)
      let result = try await stage.ask(options, reporting: "%{http_code} %{http_version} %{size_download}")
      #expect(result == "200 1.1 30000")
    }
  }

  @Test("a version below the oldest is refused, and the client is told why")
  func oldest() async throws {
    let stage = try Stage()
    let report = "%{exitcode} %{http_code} %{errormsg}"
    let refused = try await stage.ask(["--tls-max", "1.2"], reporting: report) { $0.oldest = .tls13 }
    #expect(refused.hasPrefix("35 000"))
    #expect(refused.contains("alert protocol version"))
    #expect(try await stage.ask(["--tlsv1.3"]) { $0.oldest = .tls13 } == "0 200")
    let old = ["--tls-max", "1.1", "--tlsv1.0", "--ciphers", "DEFAULT@SECLEVEL=0"]
    #expect(try await stage.ask(old).hasPrefix("35 "))
  }

  @Test("a version above the newest is not spoken")
  func newest() async throws {
    let stage = try Stage()
    #expect(try await stage.ask(["--tlsv1.3"]) { $0.newest = .tls12 }.hasPrefix("35 "))
    #expect(try await stage.ask([]) { $0.newest = .tls12 } == "0 200")
  }

  @Test("the cipher suites are those that are listed, and TLS 1.3 keeps its own")
  func suites() async throws {
    let stage = try Stage(key: .rsa)
    let listed = ["TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384", "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256"]
    let only: (inout TLSSettings) -> Void = { $0.cipherSuites = listed.compactMap { .init(name: $0) } }
    let offering = { (suite: String) in ["--tls-max", "1.2", "--ciphers", suite] }
    #expect(try await stage.ask(offering("ECDHE-RSA-AES256-GCM-SHA384"), with: only) == "0 200")
    #expect(try await stage.ask(offering("ECDHE-RSA-AES128-GCM-SHA256"), with: only).hasPrefix("35 "))
    #expect(try await stage.ask(offering("AES256-GCM-SHA384"), with: only).hasPrefix("35 "))
    #expect(try await stage.ask(["--tls13-ciphers", "TLS_AES_128_GCM_SHA256"], with: only) == "0 200")
  }

  @Test("the curves are those that are listed")
  func curves() async throws {
    let stage = try Stage()
    let only: (inout TLSSettings) -> Void = { $0.curves = [.p384] }
    #expect(try await stage.ask(["--curves", "secp384r1"], with: only) == "0 200")
    #expect(try await stage.ask(["--curves", "X25519"], with: only).hasPrefix("35 "))
  }

  @Test("a Unix socket speaks TLS as well")
  func unixSocket() async throws {
    let folder = try TestFolder()
    let path = folder.path + "/socket"
    let stage = try Stage()
    #expect(try await stage.ask(["--unix-socket", path], on: .unix(path: path)) == "0 200")
  }

  @Test("HTTP without TLS is answered with what to do, and TLS where there is none ends at once")
  func mistaken() async throws {
    let stage = try Stage()
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, policy: stage.policy())
      let plain = try await HTTPServerTests.ask(server, loop, "GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(plain.status == 400)
      #expect(plain.text.contains("https://"))
      var other = try await TestClient(to: server.addresses[0], on: loop)
      try await other.send("\0\0\0\0")
      #expect(try await other.receiveToEnd() == [])
      await server.stop(by: loop.now())

      let open = try HTTPServerTests.start(loop)
      let result = try await Curl.run(
        ["--insecure"], "/hello", reporting: "%{exitcode}", of: open, on: loop, scheme: "https")
      #expect(result == "35")
      await open.stop(by: loop.now())
    }
  }

  // MARK: Clients' certificates

  @Test("a client's certificate is asked for, wanted and verified as it is set")
  func clientCertificates() async throws {
    let stage = try Stage()
    let good = try stage.authority.issue("good", for: ["DNS:prometheus.example", "IP:192.0.2.7"])
    let foreign = try TestAuthority("elsewhere").issue("foreign", for: ["DNS:prometheus.example"])
    // The reports without a certificate, with a good one and with one of another authority.
    let table: [(TLSSettings.ClientAuthentication, Bool, Bool, Bool)] = [
      (.none, true, true, true), (.request, true, true, true), (.requireAny, false, true, true),
      (.verifyIfGiven, true, true, false), (.requireAndVerify, false, true, false),
    ]
    for (kind, bare, known, unknown) in table {
      for version in [["--tlsv1.3"], ["--tls-max", "1.2"]] {
        let set: (inout TLSSettings) -> Void = { settings in
          settings.clientAuthentication = kind
          settings.clientAuthorities = .file(stage.authority.certificate)
        }
        func isLetIn(_ options: [String]) async throws -> Bool {
          try await stage.ask(version + options, with: set) == "0 200"
        }
        #expect(try await isLetIn([]) == bare, "\(kind) \(version)")
        #expect(try await isLetIn(["--cert", good.certificate, "--key", good.key]) == known, "\(kind) \(version)")
        #expect(
          try await isLetIn(["--cert", foreign.certificate, "--key", foreign.key]) == unknown, "\(kind) \(version)")
      }
    }
  }

  @Test("a client's certificate must have one of the names, exactly")
  func clientNames() async throws {
    let stage = try Stage()
    let client = try stage.authority.issue(
      "client", for: ["DNS:a.example", "IP:192.0.2.7", "IP:2001:db8::7", "email:p@example.org", "URI:spiffe://x/y"])
    let nameless = try stage.authority.issue("a.example", for: [])
    func report(
      _ names: [String], _ pair: TestAuthority.Pair, version: [String] = ["--tls-max", "1.2"]
    ) async throws -> String {
      try await stage.ask(
        version + ["--cert", pair.certificate, "--key", pair.key], reporting: "%{exitcode} %{http_code} %{errormsg}"
      ) { settings in
        settings.clientAuthentication = .requireAndVerify
        settings.clientAuthorities = .file(stage.authority.certificate)
        settings.clientNames = names
      }
    }
    for name in ["a.example", "192.0.2.7", "2001:DB8::7", "p@example.org", "spiffe://x/y"] {
      #expect(try await report(["other.example", name], client).hasPrefix("0 200"), "\(name)")
    }
    for name in ["example", "192.0.2.70", "A.EXAMPLE", "x.a.example"] {
      let refused = try await report([name], client)
      #expect(refused.contains("bad certificate"), "\(name): \(refused)")
      // In TLS 1.3 a client has begun to ask by then, and may hear of the end of the connection alone.
      #expect(try await !report([name], client, version: ["--tlsv1.3"]).hasPrefix("0 "), "\(name)")
    }
    let refused = try await report(["a.example"], nameless)
    #expect(refused.contains("bad certificate"), "\(refused)")
  }
}
