import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// Names, passwords and limits, with curl and without.
@Suite(
  .enabled(if: Curl.isAvailable, "needs Debian's package curl, and runs wherever all tests are required"),
  .timeLimit(.minutes(4)))
struct AccessTests {
  /// "secret" and "other", at the lowest cost.
  private static let users = [
    "prometheus": "$2y$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW", "grafana": otherHash,
  ]
  private static let otherHash = "$2b$04$......................ihqWR5MPTQ.vdPo4V5b6powaL1OAEka"

  private static var policy: HTTPPolicy {
    var policy = HTTPPolicy()
    policy.users = users
    return policy
  }

  private func report(_ options: [String], path: String = "/hello", _ policy: HTTPPolicy = policy) async throws
    -> String
  {
    try await Curl.run(options, path, reporting: "%{http_code} %header{www-authenticate}", policy: policy)
  }

  private static let refused = "401 Basic realm=\"reachd\", charset=\"UTF-8\""

  @Test("the right password opens every path, and anything else none, not even the health check")
  func passwords() async throws {
    #expect(try await report(["--user", "prometheus:secret"]) == "200 ")
    #expect(try await report(["--user", "grafana:other"]) == "200 ")
    #expect(try await report(["--user", "prometheus:secret"], path: "/missing") == "404 ")
    #expect(try await report(["--user", "prometheus:secret", "--data", "x"], path: "/echo") == "200 ")
    let wrong = ["prometheus:other", "prometheus:", "prometheus:secretx", "grafana:secret", "nobody:secret", ":", "x:"]
    for user in wrong { #expect(try await report(["--user", user]) == Self.refused, "\(user)") }
    for path in ["/hello", "/missing", "/-/healthy"] { #expect(try await report([], path: path) == Self.refused) }
    #expect(try await report(["--user", "x:y", "--data", "x"], path: "/echo") == Self.refused)
    #expect(try await report(["--head"]) == Self.refused)
  }

  @Test(
    "a field that cannot be read is no password",
    arguments: [
      "Basic", "Basic ", "Basic !!!!", "Basic cHJvbWV0aGV1czpzZWNyZXQ", "Basic cHJvbWV0aGV1cw==", "Bearer abc",
      "Basic cHJvbWV0aGV1czpzZWNyZX==", "cHJvbWV0aGV1czpzZWNyZXQ=", "Basic =", "Basic ====",
      // "prometheus:secret" followed by a zero byte and more.
      "Basic cHJvbWV0aGV1czpzZWNyZXQAeA==",
    ])
  func malformed(field: String) async throws {
    #expect(try await report(["--header", "Authorization: " + field]) == Self.refused)
  }

  @Test("the scheme may be written in any case")
  func scheme() async throws {
    #expect(try await report(["--header", "Authorization: bAsIc cHJvbWV0aGV1czpzZWNyZXQ="]) == "200 ")
  }

  @Test("a password as long as a header may be is looked at and refused")
  func huge() async throws {
    let password = String(repeating: "p", count: 20_000)
    #expect(try await report(["--user", "prometheus:" + password]) == Self.refused)
  }

  @Test("a password is looked at once, and the loop goes on meanwhile")
  func once() async throws {
    try await withEventLoop { loop in
      let taken = Counter()
      var routes = HTTPRoutes()
      routes.add("/count") { _ in
        taken.add(1)
        return .text("counted\n")
      }
      var policy = HTTPPolicy()
      // At this cost a look takes some tenths of a second; more than a few would take more than the test has.
      policy.users = ["a": "$2b$12$......................Uz/vZrfsIYwUbciA8c0VjDlo6TiFE0m"]
      let server = try HTTPServerTests.start(loop, routes: routes, policy: policy)
      let request = "GET /count HTTP/1.1\r\nHost: x\r\nAuthorization: Basic YTpi\r\n\r\n"
      var clients: [HeldClient] = []
      for _ in 0..<20 {
        let client = try await TestClient(to: server.addresses[0], on: loop)
        try await client.send(request)
        clients.append(HeldClient(client))
      }
      // Who brings nothing is answered while the look is under way.
      #expect(try await HTTPServerTests.ask(server, loop, "GET /count HTTP/1.1\r\nHost: x\r\n\r\n").status == 401)
      #expect(taken.value == 0)
      try await eventually("every answer", on: loop) { taken.value == 20 ? () : nil }
      for _ in 0..<100 { #expect(try await HTTPServerTests.ask(server, loop, request).status == 200) }
      await server.stop(by: loop.now())
    }
  }

  @Test("too many different passwords at once are put off, and who is known gets in meanwhile")
  func busy() async throws {
    try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.connectionsPerAddress = 128
      var policy = Self.policy
      policy.users["slow"] = "$2b$12$......................Uz/vZrfsIYwUbciA8c0VjDlo6TiFE0m"
      let answers = Answers()
      let server = try HTTPServerTests.start(loop, limits: limits, answers: answers, policy: policy)
      let good = "GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: Basic cHJvbWV0aGV1czpzZWNyZXQ=\r\n\r\n"
      #expect(try await HTTPServerTests.ask(server, loop, good).status == 200)
      var clients: [HeldClient] = []
      let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
      for letter in letters.prefix(40) {
        let client = try await TestClient(to: server.addresses[0], on: loop)
        // "slow:" and three bytes more.
        try await client.send("GET /hello HTTP/1.1\r\nHost: x\r\nAuthorization: Basic c2xvdzp\(letter)QUFB\r\n\r\n")
        clients.append(HeldClient(client))
      }
      try await eventually("somebody to be put off", on: loop) { answers.all.contains("other 503") ? () : nil }
      #expect(try await HTTPServerTests.ask(server, loop, good).status == 200)
      // Those who wait are not waited for.
      await server.stop(by: loop.now())
      clients.removeAll()
    }
  }

  @Test("users may change while the server runs")
  func change() async throws {
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, policy: Self.policy)
      func code(_ user: String) async throws -> String {
        try await Curl.run(["--user", user], "/hello", reporting: "%{http_code}", of: server, on: loop)
      }
      #expect(try await code("prometheus:secret") == "200")
      var policy = HTTPPolicy()
      policy.users = ["prometheus": Self.otherHash]
      try server.apply(policy)
      #expect(try await code("prometheus:secret") == "401")
      #expect(try await code("prometheus:other") == "200")
      try server.apply(HTTPPolicy())
      #expect(try await code("who:ever") == "200")
      await server.stop(by: loop.now())
    }
  }

  @Test("the fields of the policy are in every answer, refusals among them")
  func headers() async throws {
    var policy = Self.policy
    policy.headers = [HTTPRequest.Field("X-Frame-Options", "deny")]
    for options in [[], ["--user", "prometheus:secret"], ["--user", "prometheus:secret", "--request", "PUT"]] {
      let result = try await Curl.run(options, "/hello", reporting: "%header{x-frame-options}", policy: policy)
      #expect(result == "deny")
    }
  }

  @Test("beyond its rate the server says when to come again")
  func rateLimit() async throws {
    var policy = HTTPPolicy()
    policy.rateLimit = HTTPPolicy.RateLimit(interval: .seconds(3_600), burst: 2)
    try await withEventLoop { [policy] loop in
      let server = try HTTPServerTests.start(loop, policy: policy)
      var found: [String] = []
      for _ in 0..<3 {
        let reply = try await HTTPServerTests.ask(server, loop, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
        found.append(
          "\(reply.status) \(reply.headers["retry-after"].map { Int($0) ?? 0 > 3_000 ? "later" : $0 } ?? "-")")
      }
      #expect(found == ["200 -", "200 -", "429 later"])
      await server.stop(by: loop.now())
    }
  }
}
