import Testing

@testable import ReachConfig

/// Files for `web.config`, in the exporter-toolkit's format.
@Suite struct WebConfigurationTests {
  private static let hash = "$2y$10$abcdefghijklmnopqrstuuqflPDzB6gcMhKa1rZqKiun2YGL5sa2u"

  private static func parse(_ text: String, file: String = "F") -> WebConfigurationResult {
    WebConfiguration.parse(Array(text.utf8), file: file)
  }

  private static func problems(_ text: String) -> [String] {
    parse(text).problems.map { String($0.description.dropFirst(2)) }
  }

  @Test("a file with every key of the toolkit's is taken as it is")
  func everything() throws {
    let result = Self.parse(
      """
      tls_server_config:
        cert_file: server.crt
        key_file: /etc/ssl/server.key
        client_auth_type: RequireAndVerifyClientCert
        client_ca_file: ca/clients.crt
        client_allowed_sans: [prometheus.example, "192.0.2.7"]
        min_version: TLS12
        max_version: TLS13
        cipher_suites:
          - TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256
          - TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256
        prefer_server_cipher_suites: no
        curve_preferences: [X25519, CurveP256]
      http_server_config:
        http2: true
        headers:
          Content-Security-Policy: "default-src 'self'"
          X-Frame-Options: deny
          X-Content-Type-Options: nosniff
          X-XSS-Protection: 1; mode=block
          Strict-Transport-Security: max-age=31536000
      basic_auth_users:
        prometheus: \(Self.hash)
        123: "\(Self.hash)"
      rate_limit:
        interval: 100ms
        burst: 20
      """, file: "/etc/reachd/web.yaml")
    #expect(result.problems == [])
    let web = try #require(result.configuration)
    let tls = try #require(web.tls)
    #expect(tls.certificate == .file("/etc/reachd/server.crt"))
    #expect(tls.key == .file("/etc/ssl/server.key"))
    #expect(tls.clientAuthorities == .file("/etc/reachd/ca/clients.crt"))
    #expect(tls.clientAuthentication == .requireAndVerify)
    #expect(tls.clientNames == ["prometheus.example", "192.0.2.7"])
    #expect((tls.oldest, tls.newest) == (.tls12, .tls13))
    #expect(tls.cipherSuites.count == 2)
    #expect(!tls.prefersOwnOrder)
    #expect(tls.curves == ["X25519", "CurveP256"])
    #expect(web.headers.count == 5)
    #expect(web.headers.contains(WebConfiguration.Header(name: "X-XSS-Protection", value: "1; mode=block")))
    #expect(web.users.map(\.name) == ["prometheus", "123"])
    #expect(web.rateLimit == WebConfiguration.RateLimit(interval: .milliseconds(100), burst: 20))
    #expect(web.files == ["/etc/reachd/server.crt", "/etc/ssl/server.key", "/etc/reachd/ca/clients.crt"])
  }

  @Test("an empty file, and empty sections, let everybody in without TLS")
  func empty() {
    let sections = "tls_server_config:\nhttp_server_config: {}\nbasic_auth_users:\nrate_limit: {interval: 0}\n"
    for text in ["", "# nothing\n", sections] {
      let result = Self.parse(text)
      #expect(result.problems == [])
      #expect(result.configuration?.tls == nil)
      #expect(result.configuration?.users == [])
      #expect(result.configuration?.rateLimit == nil)
    }
  }

  @Test("a certificate and a key may be written out, and relative paths begin in the file's folder")
  func inline() throws {
    let text =
      "tls_server_config:\n  cert: |\n    PEM\n  key: KEY\n  client_ca: CA\n  client_auth_type: RequireClientCert\n"
    let tls = try #require(Self.parse(text).configuration?.tls)
    #expect(tls.certificate == .text("PEM\n"))
    #expect(tls.key == .text("KEY"))
    #expect(tls.clientAuthentication == .requireAny)
    let relative = Self.parse("tls_server_config: {cert_file: a, key_file: b}", file: "web.yaml").configuration
    #expect(relative?.files == ["a", "b"])
  }

  @Test("Go's durations are understood", arguments: [("1s", 1_000_000_000), ("250us", 250_000), ("5000", 5_000)])
  func durations(text: String, nanoseconds: Int64) {
    let web = Self.parse("rate_limit: {interval: \(text), burst: 1}").configuration
    #expect(web?.rateLimit?.interval == .nanoseconds(nanoseconds))
  }

  @Test("what is wrong is said with its place and what to do")
  func wrong() {
    let table: [(String, [String])] = [
      (
        "tls_server_confg: {}",
        ["1:1: error: unknown key 'tls_server_confg' in the file; did you mean 'tls_server_config'?"]
      ),
      (
        "tls_server_config: {cert_file: a, key_fil: b}",
        [
          "1:20: error: there is no key; write key_file, and cert_file with it",
          "1:35: error: unknown key 'key_fil' in tls_server_config; did you mean 'key_file'?",
        ]
      ),
      (
        "tls_server_config: {cert_file: a, cert: b, key_file: c}",
        ["1:21: error: 'cert' and 'cert_file' are two places for one thing; remove one of them"]
      ),
      (
        "tls_server_config: {min_version: TLS12}",
        [
          "1:20: warning: without cert_file and key_file pages are served without TLS; write both, or remove "
            + "tls_server_config"
        ]
      ),
      (
        "tls_server_config: {cert_file: a, key_file: b, client_ca_file: c}",
        [
          "1:48: error: 'client_ca_file' without client_auth_type would let everybody in; "
            + "write client_auth_type: RequireAndVerifyClientCert"
        ]
      ),
      (
        "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequireAndVerifyClient}",
        [
          "1:66: error: client_auth_type: 'RequireAndVerifyClient' is none of NoClientCert, RequestClientCert, "
            + "RequireAnyClientCert, VerifyClientCertIfGiven, RequireAndVerifyClientCert; "
            + "did you mean 'RequireAndVerifyClientCert'?"
        ]
      ),
      (
        "tls_server_config: {cert_file: a, key_file: b, client_auth_type: RequestClientCert, client_allowed_sans: [x]}",
        [
          "1:85: error: 'client_allowed_sans' takes client_auth_type to be RequireAndVerifyClientCert or "
            + "RequireAnyClientCert, since a client without a certificate has no name"
        ]
      ),
      (
        "tls_server_config: {cert_file: a, key_file: b, min_version: TLS13, max_version: TLS12}",
        ["1:68: error: max_version TLS12 is below min_version TLS13, and nobody could connect; exchange them"]
      ),
      (
        "tls_server_config: {cert_file: a, key_file: b, cipher_suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265]}",
        [
          "1:64: error: cipher_suites: 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA265' is no suite that is known here; "
            + "did you mean 'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'?"
        ]
      ),
      (
        "http_server_config: {headers: {X-Frame-Option: deny}}",
        ["1:32: error: unknown key 'X-Frame-Option' in headers; did you mean 'X-Frame-Options'?"]
      ),
      (
        "http_server_config: {headers: {X-Frame-Options: allow}}",
        ["1:49: error: X-Frame-Options: 'allow' is none of deny, sameorigin; write one of them"]
      ),
      (
        "basic_auth_users: {a: secret}",
        [
          "1:23: error: the password of this user is no bcrypt hash; make one with: htpasswd -nBC 10 \"\" | tr -d ':\\n'"
        ]
      ),
      (
        "rate_limit: {interval: 1s}",
        [
          "1:13: error: with 'interval' and no 'burst' of at least 1 no request would be answered; write one, such as 10"
        ]
      ),
    ]
    for (text, expected) in table { #expect(Self.problems(text) == expected) }
  }

  @Test("a hash that takes seconds is a warning, and one that takes minutes an error")
  func cost() {
    func problem(_ cost: String) -> String? {
      Self.problems("basic_auth_users: {a: '$2b$\(cost)$\(Self.hash.dropFirst(7))'}").first
    }
    #expect(problem("13") == nil)
    #expect(problem("16")?.hasPrefix("1:23: warning:") == true)
    #expect(problem("31")?.hasPrefix("1:23: error:") == true)
    #expect(problem("03")?.hasPrefix("1:23: error:") == true)
  }

  @Test("no message shows what may be a secret")
  func secrets() {
    let texts = [
      "basic_auth_users: hunter2", "basic_auth_users: {a: hunter2}", "basic_auth_users: [hunter2]",
      "basic_auth_users: {a: [hunter2]}", "tls_server_config: hunter2", "tls_server_config: {cert: a, key: [hunter2]}",
      "tls_server_config: {cert: a, key: {hunter2: 1}}", "hunter2", "rate_limit: hunter2",
      "http_server_config: {headers: hunter2}",
    ]
    for text in texts {
      let found = Self.problems(text)
      #expect(!found.isEmpty)
      for problem in found { #expect(!problem.description.contains("hunter2"), "\(problem)") }
    }
  }

  @Test("a file that is not there, and one that is no YAML, are problems of their own")
  func unreadable() {
    let missing = WebConfiguration.read(file: "/nonexistent/web.yaml")
    #expect(missing.configuration == nil)
    #expect(
      missing.problems.map(\.description) == [
        "/nonexistent/web.yaml:1:1: error: there is no such file; write one, or name another with web.config"
      ])
    #expect(Self.parse("a: [").configuration == nil)
  }

  @Test("web.config is a path, which begins in the configuration's folder when it is relative")
  func reference() throws {
    func path(_ text: String, file: String) -> String? {
      ConfigurationDocument(parsing: Array(text.utf8), file: file).resolve { _ in nil }.configuration?.webConfig
    }
    #expect(path("web: {config: web.yaml}", file: "/etc/reachd/reachd.yaml") == "/etc/reachd/web.yaml")
    #expect(path("web: {config: web.yaml}", file: "reachd.yaml") == "web.yaml")
    #expect(path("web: {config: /x/web.yaml}", file: "/etc/reachd/reachd.yaml") == "/x/web.yaml")
    #expect(path("web: {listen: [':1']}", file: "/etc/reachd/reachd.yaml") == nil)
  }

  @Test("whatever bytes a file has, it is read or refused", .timeLimit(.minutes(4)))
  func anything() {
    let pieces = [
      "tls_server_config:", "basic_auth_users:", "http_server_config:", "rate_limit:", " cert_file: ", " key: ", "\n",
      " - ", "[", "]", "{", "}", ": ", "a", "&x ", "*x ", "<<: ", "\"", "\u{0}", "interval: ", "burst: ", "-1", "1e9",
      "headers:", "cipher_suites:", "client_auth_type:", Self.hash, "  ", "~",
    ]
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<3_000 {
      let text = (0..<Int.random(in: 1...12, using: &generator)).map { _ in pieces.randomElement() ?? "" }.joined()
      _ = Self.parse(text)
    }
  }
}
