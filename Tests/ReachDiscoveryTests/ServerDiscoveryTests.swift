import ReachConfig
import ReachCore
import ReachDiscovery
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// Targets of a server, by the real libcurl against a real server.
@Suite(.timeLimit(.minutes(4))) struct ServerDiscoveryTests {
  private struct Script: Sendable {
    var status = 200
    var type = "application/json; charset=utf-8"
    var body = #"[{ "targets": ["a.example"], "labels": { "__meta_x": "y", "team": "storage" } }]"#
    var location: String?
    var requests: [HTTPRequest] = []
  }

  /// A server that answers as its script says, on a port of the kernel's.
  private final class Server: Sendable {
    let script: LoopConfined<Script>
    private let server: HTTPServer
    let port: UInt16

    init(on loop: EventLoop) throws {
      let script = LoopConfined(Script(), on: loop)
      var routes = HTTPRoutes()
      let answer: HTTPRoutes.Handler = { request in
        script.withState { script in
          script.requests.append(request)
          if request.path == "/moved" {
            return HTTPResponse(contentType: script.type, body: .bytes(Array(script.body.utf8)))
          }
          var response = HTTPResponse(
            status: script.status, contentType: script.type, body: .bytes(Array(script.body.utf8)))
          if let location = script.location { response.headers.append(HTTPRequest.Field("Location", location)) }
          return response
        }
      }
      routes.add("/targets", answer)
      routes.add("/moved", answer)
      let server = HTTPServer(on: loop, routes: routes)
      try server.listen(on: [.address(IPAddress(ipv4: 0x7f00_0001), port: 0)])
      guard case .address(_, let port)? = server.addresses.first else { throw DiscoveryStage.Failure(what: "no port") }
      (self.script, self.server, self.port) = (script, server, port)
    }

    func stop() async { await server.stop(by: .distantFuture) }
  }

  private func withServer(
    _ body: @escaping @Sendable (DiscoveryStage, Server) async throws -> Void
  ) async throws {
    try await withDiscovery { stage in
      let server = try Server(on: stage.loop)
      do { try await body(stage, server) } catch {
        await server.stop()
        throw error
      }
      stage.stop()
      await server.stop()
    }
  }

  @Test(
    "a source that is asked in another way keeps what it told last, with its new labels, until it tells something newer"
  )
  func changedSource() async throws {
    try await withServer { stage, server in
      let place = "targets_from: [{ http: 'http://127.0.0.1:\(server.port)/targets?token=a', refresh: 1h"
      try await stage.start(place + " }]")
      try await stage.wait(for: ["a.example"])
      server.script.withState { $0.status = 500 }
      let lists = stage.lists.count
      try await stage.start(
        "targets_from: [{ http: 'http://127.0.0.1:\(server.port)/targets?token=b', refresh: 2h, labels: { site: x } }]")
      #expect(stage.lists[lists].map(\.target.name) == ["a.example"])
      #expect(
        stage.lists[lists].first?.target.labels == [
          Label(name: "site", value: "x"), Label(name: "team", value: "storage"),
        ])
      _ = try await eventually("the failure", on: stage.loop) { stage.problems.isEmpty ? nil : true }
      #expect(stage.names == ["a.example"])
    }
  }

  @Test("a server is asked as Prometheus asks, and its list followed")
  func asks() async throws {
    try await withServer { stage, server in
      try await stage.start("targets_from: [{ http: 'http://127.0.0.1:\(server.port)/targets?role=a', refresh: 1s }]")
      #expect(stage.names == [])
      try await stage.wait(for: ["a.example"])
      #expect(stage.lists.last?.first?.target.labels == [Label(name: "team", value: "storage")])
      let request = try #require(server.script.withState { $0.requests.first })
      #expect(request.header("Accept") == "application/json")
      #expect(request.header("User-Agent") == "reachd/test")
      #expect(request.header("X-Prometheus-Refresh-Interval-Seconds") == "1")
      #expect(request.header("Authorization") == nil)
      #expect(request.parameter("role") == "a")
      server.script.withState { $0.body = #"[{ "targets": ["b.example", "127.1"] }]"# }
      try await stage.wait(for: ["b.example"])
      #expect(stage.problems.count == 1)
      #expect(stage.discovery?.samples.map(\.targets) == [1])
      #expect(!stage.events.contains { "\($0)".contains("role=a") }, "a query may hold a secret")
    }
  }

  @Test("a name is resolved by us, and the server told which it was")
  func names() async throws {
    try await withServer { stage, server in
      try await stage.start("targets_from: [{ http: 'http://localhost:\(server.port)/targets' }]")
      try await stage.wait(for: ["a.example"])
      #expect(server.script.withState { $0.requests.first?.header("Host") } == "localhost:\(server.port)")
    }
  }

  @Test(
    "an answer that is none keeps the last good one, and is said once",
    arguments: [
      "status": "the server answered with status 500, not 200",
      "type": "the answer's content type is 'text/html', not application/json",
      "body": "line 1: this is not valid JSON: ", "large": "the answer is larger than 8 MiB; split it",
      "redirect": "the server's redirect leads to what cannot be used: it is no http or https URL",
      "circle": "the server redirects more than 5 times",
    ])
  func failures(kind: String, message: String) async throws {
    try await withServer { stage, server in
      try await stage.start("targets_from: [{ http: 'http://127.0.0.1:\(server.port)/targets', refresh: 1s }]")
      try await stage.wait(for: ["a.example"])
      server.script.withState { script in
        switch kind {
        case "status": script.status = 500
        case "type": script.type = "text/html"
        case "body": script.body = "["
        case "large": script.body = String(repeating: " ", count: 9 << 20)
        case "redirect": (script.status, script.location) = (302, "file:///etc/passwd")
        default: (script.status, script.location) = (302, "/targets")
        }
      }
      try await stage.wait("two failures") { (stage.discovery?.samples.first?.failures ?? 0) >= 2 }
      #expect(stage.names == ["a.example"])
      #expect(stage.problems.count == 1)
      #expect(stage.problems.first?.hasPrefix("targets kept 1 \(message)") == true, "\(stage.problems)")
      server.script.withState { script in
        let requests = script.requests
        script = Script(body: #"[{ "targets": ["b.example"] }]"#, requests: requests)
      }
      try await stage.wait(for: ["b.example"])
    }
  }

  @Test("a password or token is read from its file for each question, and never follows to another server")
  func secrets() async throws {
    try await withServer { stage, server in
      try stage.folder.write("hunter2\n", to: "secret")
      let other = try Server(on: stage.loop)
      server.script.withState { ($0.status, $0.location) = (302, "http://127.0.0.1:\(other.port)/moved") }
      try await stage.start(
        """
        targets_from:
          - http: 'http://127.0.0.1:\(server.port)/targets'
            refresh: 1s
            authorization: { credentials_file: secret }
        """)
      try await stage.wait(for: ["a.example"])
      #expect(server.script.withState { $0.requests.first?.header("Authorization") } == "Bearer hunter2")
      #expect(other.script.withState { $0.requests.first?.header("Authorization") } == nil)
      server.script.withState { ($0.status, $0.location) = (200, nil) }
      try await stage.start(
        """
        targets_from:
          - http: 'http://127.0.0.1:\(server.port)/targets'
            basic_auth: { username: reachd, password_file: secret }
        """)
      try await stage.wait("the question") {
        server.script.withState { $0.requests.last?.header("Authorization") } == "Basic cmVhY2hkOmh1bnRlcjI="
      }
      await other.stop()
    }
  }

  @Test("a reload keeps what a server said last, by the new settings, until it says something newer")
  func reload() async throws {
    try await withServer { stage, server in
      let url = "http://127.0.0.1:\(server.port)/targets"
      try await stage.start("targets_from: [{ http: '\(url)' }]")
      try await stage.wait(for: ["a.example"])
      server.script.withState { $0.status = 503 }
      let told = stage.lists.count
      try await stage.start("targets_from: [{ http: '\(url)', defaults: { interval: 2s } }]")
      #expect(stage.lists.count == told + 1)
      #expect(stage.names == ["a.example"])
      #expect(stage.lists.last?.first?.target.policy.interval == .seconds(2))
      try await stage.start("targets_from: [{ http: '\(url)', refresh: 2m }]")
      #expect(stage.names == ["a.example"], "asked at other times it is the same source")
      try await stage.start("targets_from: [{ http: '\(url)/other' }]")
      #expect(stage.names == [], "another place is another source")
    }
  }

  @Test("a server that is not there is asked again soon, and nothing but a warning comes of it")
  func refused() async throws {
    let port = try TestPort(.closed)
    try await withDiscovery { stage in
      try await stage.start("targets_from: [{ http: 'http://127.0.0.1:\(port.number)/targets' }]")
      try await stage.wait("the warning") { !stage.problems.isEmpty }
      #expect(stage.problems == ["targets kept 0 Couldn't connect to server"])
    }
  }
}
