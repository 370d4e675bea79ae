import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// Requests that are none, or that two readers would read differently.
@Suite(.timeLimit(.minutes(4)))
struct RefusalTests {
  @Test(
    "a request of unclear meaning is refused with a text that says why",
    arguments: [
      ("GET /hello HTTP/1.1\r\n\r\n", 400, "the header Host is missing, which HTTP/1.1 requires\n"),
      ("GET /hello HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400, "the header Host is there more than once\n"),
      (
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400,
        "the headers Content-Length contradict each other\n"
      ),
      (
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400,
        "Content-Length and Transfer-Encoding exclude each other\n"
      ),
      (
        "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501,
        "of transfer encodings only chunked is understood\n"
      ),
    ])
  func framing(request: String, status: Int, text: String) async throws {
    let answers = Answers()
    let reply = try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, answers: answers)
      let reply = try await HTTPServerTests.ask(server, loop, request)
      await server.stop(by: loop.now())
      return reply
    }
    #expect(reply.status == status && reply.text == text)
    #expect(reply.headers["content-type"] == "text/plain; charset=utf-8")
    #expect(reply.headers["connection"]?.lowercased() == "close")
    #expect(answers.all == ["other \(status)"])
  }

  @Test("HTTP/1.0 needs no Host, and each of several equal lengths is taken")
  func lenient() async throws {
    let statuses = try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop)
      var statuses: [Int] = []
      for request in [
        "GET /hello HTTP/1.0\r\n\r\n",
        "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nb",
      ] {
        statuses.append(try await HTTPServerTests.ask(server, loop, request).status)
      }
      await server.stop(by: loop.now())
      return statuses
    }
    #expect(statuses == [200, 200])
  }

  @Test(
    "what is no request of HTTP/1 ends with a refusal or with nothing, and the connection with it",
    arguments: [
      "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\u{0}\u{0}\u{0}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}", "GET /hello HTTP/0.9\r\n\r\n",
      "GET /hello HTTP/3.1\r\n\r\n", "GET /hello HTTPS\r\n\r\n", "hello\r\n\r\n",
      "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n",
      "GET /hello HTTP/1.1\r\nno colon\r\n\r\n", "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n",
      "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    ])
  func nonsense(request: String) async throws {
    let answer = try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send(request)
      let answer = try await client.receiveToEnd()
      let hello = try await HTTPServerTests.ask(server, loop, SlowClientTests.greeting)
      #expect(hello.status == 200)
      await server.stop(by: loop.now())
      return String(decoding: answer, as: UTF8.self)
    }
    let codes = ["400", "413", "505"].map { "HTTP/1.1 \($0)" }
    #expect(answer.isEmpty || codes.contains { answer.hasPrefix($0) }, "\(answer)")
  }

  @Test("an offer to go on in HTTP/2 is not taken up, and the request is answered in HTTP/1.1")
  func upgrade() async throws {
    let reply = try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop)
      let reply = try await HTTPServerTests.ask(
        server, loop,
        "GET /hello HTTP/1.1\r\nHost: a\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
          + "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n")
      await server.stop(by: loop.now())
      return reply
    }
    #expect(reply.status == 200 && reply.text == "hello nobody -\n")
  }
}
