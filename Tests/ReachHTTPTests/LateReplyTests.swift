import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4)))
struct LateReplyTests {
  /// A server whose `/late` keeps its replies here.
  private final class Promises: Sendable {
    private let kept: LoopConfined<[HTTPReply]>
    init(_ loop: EventLoop) { kept = LoopConfined([], on: loop) }
    var all: [HTTPReply] { kept.withState { $0 } }

    var routes: HTTPRoutes {
      var routes = HTTPServerTests.routes()
      routes.add("/late", later: { _, reply in self.kept.withState { $0.append(reply) } })
      routes.add("/soon", later: { request, reply in reply.send(.text("soon \(request.parameter("a") ?? "-")\n")) })
      return routes
    }

    func next(on loop: EventLoop) async throws -> HTTPReply {
      try await eventually("a request", on: loop) { all.last }
    }
  }

  @Test("an answer that comes later reaches its client, and the connection serves the next request")
  func later() async throws {
    try await withEventLoop { loop in
      let promises = Promises(loop)
      let answers = Answers()
      let server = try HTTPServerTests.start(loop, routes: promises.routes, answers: answers)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
      let reply = try await promises.next(on: loop)
      // Others are served meanwhile.
      let other = try await HTTPServerTests.ask(server, loop, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(other.status == 200)
      reply.send(.text("at last\n", status: 202))
      reply.send(.text("too much\n"))
      let answer = try await client.reply()
      #expect(answer.status == 202)
      #expect(answer.text == "at last\n")
      try await client.send("GET /soon?a=b HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try await client.reply().text == "soon b\n")
      #expect(answers.all == ["/hello 200", "/late 202", "/soon 200"])
      await server.stop(by: loop.now())
    }
  }

  @Test("HEAD gets the header alone, and a body in pieces is sent as one")
  func forms() async throws {
    try await withEventLoop { loop in
      let promises = Promises(loop)
      let server = try HTTPServerTests.start(loop, routes: promises.routes)
      let head = try await HTTPServerTests.ask(server, loop, "HEAD /soon HTTP/1.1\r\nHost: x\r\n\r\n", toHead: true)
      #expect(head.status == 200)
      #expect(head.body == [])
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
      let numbers = Numbers(left: 300_000, taken: Counter())
      try await promises.next(on: loop).send(HTTPResponse(contentType: "x/y", body: .chunks(numbers)))
      #expect(try await client.reply().body == Numbers.expected(300_000))
      #expect(try await HTTPServerTests.ask(server, loop, "POST /late HTTP/1.1\r\nHost: x\r\n\r\n").status == 405)
      await server.stop(by: loop.now())
    }
  }

  @Test("an answer that never comes is a 504")
  func overdue() async throws {
    try await withEventLoop { loop in
      let promises = Promises(loop)
      var limits = HTTPLimits()
      limits.reply = .milliseconds(1)
      limits.request = .milliseconds(200)
      let server = try HTTPServerTests.start(loop, routes: promises.routes, limits: limits)
      let answer = try await HTTPServerTests.ask(server, loop, "GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(answer.status == 504)
      promises.all.last?.send(.text("nobody listens\n"))
      await server.stop(by: loop.now())
    }
  }

  @Test("a server that stops answers what it has promised, and a reply after that is nobody's")
  func stopping() async throws {
    try await withEventLoop { loop in
      let promises = Promises(loop)
      let server = try HTTPServerTests.start(loop, routes: promises.routes)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
      let reply = try await promises.next(on: loop)
      await server.stop(by: loop.now())
      reply.send(.text("too late\n"))
      #expect(try await client.reply().status == 503)
    }
  }

  @Test("a request that arrives as the server ends is answered at once, and not waited for")
  func arrivingAtTheEnd() async throws {
    try await withEventLoop { loop in
      let promises = Promises(loop)
      let server = try HTTPServerTests.start(loop, routes: promises.routes)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("GET /hello HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(try await client.reply().status == 200)
      // Nothing runs between these two: the server meets the request in its last run.
      try await client.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
      await server.stop(by: loop.now())
      #expect(promises.all.isEmpty)
      #expect(try await client.reply().status == 503)
    }
  }

  @Test("a client that hangs up while it waits harms nobody")
  func hangUp() async throws {
    try await withEventLoop { loop in
      let promises = Promises(loop)
      let server = try HTTPServerTests.start(loop, routes: promises.routes)
      do {
        let client = try await TestClient(to: server.addresses[0], on: loop)
        try await client.send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n")
        _ = try await promises.next(on: loop)
      }
      promises.all.last?.send(.text("gone\n"))
      #expect(try await HTTPServerTests.ask(server, loop, "GET /hello HTTP/1.1\r\nHost: x\r\n\r\n").status == 200)
      await server.stop(by: loop.now())
    }
  }
}
