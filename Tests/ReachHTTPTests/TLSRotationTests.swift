import Glibc
import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// Policies that change while the server runs, and handshakes that do not come to their end.
@Suite(
  .enabled(
    if: Curl.isAvailable && TestAuthority.isAvailable,
    "needs Debian's packages curl and openssl, and runs wherever all tests are required"),
  .timeLimit(.minutes(4)))
struct TLSRotationTests {
  private typealias Stage = TLSTests.Stage

  @Test("a certificate that has been replaced is served from the next connection on, while answers go on")
  func rotation() async throws {
    let (old, new) = (try Stage(), try Stage())
    let folder = try TestFolder()
    @Sendable func put(_ stage: Stage) throws {
      try folder.write(try textOfFile(stage.pair.certificate), to: "pem")
      try folder.write(try textOfFile(stage.pair.key), to: "key")
    }
    try put(old)
    try await withEventLoop { loop in
      var policy = HTTPPolicy()
      policy.tls = TLSSettings(certificate: .file(folder.path + "/pem"), key: .file(folder.path + "/key"))
      let server = try HTTPServerTests.start(loop, policy: policy)
      func report(_ stage: Stage) async throws -> String {
        try await Curl.run(
          ["--cacert", stage.authority.certificate], "/hello", reporting: "%{exitcode} %{http_code}", of: server,
          on: loop)
      }
      #expect(try await report(old) == "0 200")
      // One that reads slowly goes on through all that follows.
      let slow = try ChildProcess(
        [
          "curl", "--silent", "--ipv4", "--cacert", old.authority.certificate, "--limit-rate", "2M", "--output",
          "/dev/null", "--write-out", "%{stderr}%{http_code} %{size_download}", try Self.url(server) + "numbers",
        ], on: loop)
      try await eventually("the slow answer", on: loop) { server.connections > 0 ? () : nil }

      // The new certificate with the old key: refused, and the old pair goes on to be served.
      try folder.write(try textOfFile(new.pair.certificate), to: "pem")
      let mismatch = #expect(throws: TLSProblem.self) { try server.apply(policy) }
      #expect(mismatch?.part == .key)
      #expect(mismatch?.description.contains("BEGIN") == false)
      #expect(try await report(old) == "0 200")
      try put(new)
      try server.apply(policy)
      #expect(try await report(new) == "0 200")
      #expect(try await report(old).hasPrefix("60 "))
      _ = try await slow.exitStatus()
      #expect(slow.errors == "200 4000000")
      await server.stop(by: loop.now())
    }
  }

  @Test("TLS begins and ends while the server runs, on the same port")
  func onAndOff() async throws {
    let stage = try Stage()
    let folder = try TestFolder()
    let path = folder.path + "/socket"
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, on: [HTTPServerTests.loopback, .unix(path: path)])
      let addresses = server.addresses
      var kept = try await TestClient(to: addresses[0], on: loop)
      try await kept.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try await kept.reply().status == 200)
      func report(_ scheme: String, _ options: [String] = []) async throws -> String {
        try await Curl.run(
          ["--cacert", stage.authority.certificate] + options, "/hello", reporting: "%{exitcode} %{http_code}",
          of: server, on: loop, scheme: scheme)
      }
      try server.apply(stage.policy())
      #expect(server.addresses == addresses)
      #expect(try await report("https") == "0 200")
      #expect(try await report("https", ["--unix-socket", path]) == "0 200")
      #expect(try await report("http") == "0 400")
      // Nobody goes on without TLS on a connection from before.
      #expect(try await kept.receiveToEnd() == [])
      try server.apply(HTTPPolicy())
      #expect(try await report("http") == "0 200")
      #expect(try await report("http", ["--unix-socket", path]) == "0 200")
      #expect(unsafe access(path, F_OK) == 0)
      await server.stop(by: loop.now())
      #expect(unsafe access(path, F_OK) != 0)
    }
  }

  @Test("what cannot be used is refused with a reason, and nothing changes")
  func unusable() async throws {
    let stage = try Stage()
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, policy: stage.policy())
      let junk = TLSSettings.Material.file(try folder.write("junk", to: "junk"))
      let missing = TLSSettings.Material.file(folder.path + "/missing")
      let certificate = TLSSettings.Material.file(stage.pair.certificate)
      let key = TLSSettings.Material.file(stage.pair.key)
      var authorities = TLSSettings(certificate: certificate, key: key)
      authorities.clientAuthentication = .requireAndVerify
      authorities.clientAuthorities = junk
      var suites = TLSSettings(certificate: certificate, key: key)
      suites.cipherSuites = [.init(name: "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384")].compactMap { $0 }
      let table: [(TLSSettings, TLSProblem.Part, String)] = [
        (TLSSettings(certificate: junk, key: key), .certificate, "no certificate in PEM"),
        (TLSSettings(certificate: missing, key: key), .certificate, "cannot be read"),
        (TLSSettings(certificate: certificate, key: junk), .key, "no key in PEM"),
        (TLSSettings(certificate: certificate, key: .file("/dev/zero")), .key, "regular file"),
        (authorities, .clientAuthorities, "no certificates of authorities"), (suites, .cipherSuites, "_ECDSA_"),
      ]
      for (settings, part, words) in table {
        var policy = HTTPPolicy()
        policy.tls = settings
        let problem = #expect(throws: TLSProblem.self) { try server.apply(policy) }
        #expect(problem?.part == part)
        #expect(problem?.description.contains(words) == true, "\(String(describing: problem))")
      }
      let result = try await Curl.run(
        ["--cacert", stage.authority.certificate], "/hello", reporting: "%{http_code}", of: server, on: loop)
      #expect(result == "200")
      await server.stop(by: loop.now())
    }
  }

  // MARK: Handshakes

  /// The beginning of a handshake: a record that promises more than comes.
  private static let beginning = "\u{16}\u{03}\u{01}\u{00}\u{40}\u{01}\u{00}"

  @Test("a handshake that waits costs the loop nothing, and is given up in time")
  func slowHandshake() async throws {
    let stage = try Stage()
    try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.request = .milliseconds(400)
      let server = try HTTPServerTests.start(loop, limits: limits, policy: stage.policy())
      var slow = try await TestClient(to: server.addresses[0], on: loop)
      try await slow.send(Self.beginning)
      try await eventually("the connection", on: loop) { server.connections == 1 ? () : nil }
      // Comes back only when nothing more is to be done; a library that turned in circles would keep it for ever.
      await loop.settle()
      let other = try await Curl.run(
        ["--cacert", stage.authority.certificate], "/hello", reporting: "%{http_code}", of: server, on: loop)
      #expect(other == "200")
      #expect(try await slow.receiveToEnd() == [])
      await server.stop(by: loop.now())
    }
  }

  @Test("a server stops in the middle of handshakes")
  func stopping() async throws {
    let stage = try Stage()
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, policy: stage.policy())
      var clients: [HeldClient] = []
      for index in 0..<30 {
        let client = try await TestClient(to: server.addresses[0], on: loop)
        if index % 3 > 0 { try await client.send(index % 3 == 1 ? Self.beginning : "\u{16}") }
        clients.append(HeldClient(client))
      }
      try await eventually("all of them", on: loop) { server.connections == 30 ? () : nil }
      await server.stop(by: loop.now())
      #expect(server.connections == 0)
      clients.removeAll()
    }
  }

  @Test("many handshakes at once are begun one by one, and all of them come to their end")
  func flood() async throws {
    let stage = try Stage()
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, policy: stage.policy())
      let url = try Self.url(server) + "hello"
      let urls = (0..<60).flatMap { _ in ["--output", "/dev/null", url] }
      let curl = try ChildProcess(
        [
          "curl", "--silent", "--ipv4", "--no-progress-meter", "--parallel", "--parallel-immediate", "--parallel-max",
          "30", "--no-keepalive",
          "--header", "Connection: close", "--cacert", stage.authority.certificate, "--write-out",
          "%{stderr}%{http_code} ",
        ] + urls, on: loop)
      #expect(try await curl.exitStatus() == 0)
      #expect(curl.errors.split(separator: " ") == Array(repeating: "200", count: 60))
      await server.stop(by: loop.now())
    }
  }

  private static func url(_ server: HTTPServer) throws -> String {
    guard case .address(_, let port) = server.addresses[0] else { throw TestClient.Failure(what: "no port") }
    return "https://localhost:\(port)/"
  }
}
