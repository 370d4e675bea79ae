import Glibc
import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Synchronization
import Testing

/// So many bytes in pieces of 10,000.
struct Numbers: ChunkSource {
  var left: Int
  let taken: Counter

  private static let piece = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 % 251) }

  mutating func next(into bytes: inout [UInt8]) -> Bool {
    let count = min(left, Self.piece.count)
    bytes.append(contentsOf: Self.piece[..<count])
    left -= count
    taken.add(count)
    return count > 0
  }

  static func expected(_ count: Int) -> [UInt8] {
    var numbers = Numbers(left: count, taken: Counter())
    var bytes: [UInt8] = []
    while numbers.next(into: &bytes) {}
    return bytes
  }
}

final class Counter: Sendable {
  private let total = Mutex(0)
  var value: Int { total.withLock { $0 } }
  func add(_ count: Int) { total.withLock { $0 += count } }
}

final class Answers: Sendable {
  private let kept = Mutex<[String]>([])
  var all: [String] { kept.withLock { $0 } }
  func add(_ path: String, _ code: Int) { kept.withLock { $0.append("\(path) \(code)") } }
}

@Suite struct HTTPServerTests {
  static let loopback = ListenAddress.address(IPAddress(ipv4: 0x7f00_0001), port: 0)

  static func routes(_ taken: Counter = Counter(), size: Int = 4_000_000) -> HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add("/hello") { request in
      .text("hello \(request.parameter("name") ?? "nobody") \(request.header("X-Mood") ?? "-")\n")
    }
    routes.add("/echo", methods: ["POST", "PUT"]) { .text(String(decoding: $0.body, as: UTF8.self)) }
    routes.add("/numbers") { _ in
      HTTPResponse(contentType: "application/octet-stream", body: .chunks(Numbers(left: size, taken: taken)))
    }
    routes.add("/large") { _ in
      HTTPResponse(contentType: "application/octet-stream", body: .bytes(Numbers.expected(100_000)))
    }
    return routes
  }

  static func start(
    _ loop: EventLoop, routes: HTTPRoutes = routes(), limits: HTTPLimits = HTTPLimits(),
    on addresses: [ListenAddress] = [loopback], answers: Answers = Answers(), policy: HTTPPolicy = HTTPPolicy()
  ) throws -> HTTPServer {
    let server = HTTPServer(on: loop, routes: routes, limits: limits) { answers.add($0, $1) }
    try server.apply(policy)
    try server.listen(on: addresses)
    return server
  }

  static func ask(_ server: HTTPServer, _ loop: EventLoop, _ request: String, toHead: Bool = false) async throws
    -> TestClient.Reply
  {
    var client = try await TestClient(to: server.addresses[0], on: loop)
    try await client.send(request)
    return try await client.reply(toHead: toHead)
  }

  @Test("a GET is answered with the handler's text, its type and its length", .timeLimit(.minutes(4)))
  func get() async throws {
    let reply = try await withEventLoop { loop in
      let server = try Self.start(loop)
      let reply = try await Self.ask(
        server, loop, "GET /hello?name=J%C3%BCrgen+S&x HTTP/1.1\r\nHost: a\r\nx-mood: good\r\n\r\n")
      await server.stop(by: loop.now())
      return reply
    }
    #expect(reply.status == 200)
    #expect(reply.text == "hello Jürgen S good\n")
    #expect(reply.headers["content-type"] == "text/plain; charset=utf-8")
    #expect(reply.headers["content-length"] == "\(reply.body.count)")
  }

  @Test("HEAD is answered like GET without the body, and the connection goes on", .timeLimit(.minutes(4)))
  func head() async throws {
    let (head, get) = try await withEventLoop { loop in
      let server = try Self.start(loop)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("HEAD /hello HTTP/1.1\r\nHost: a\r\n\r\n")
      let head = try await client.reply(toHead: true)
      try await client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
      let get = try await client.reply()
      await server.stop(by: loop.now())
      return (head, get)
    }
    #expect(head.status == 200)
    #expect(head.headers["content-type"] == get.headers["content-type"])
    #expect(head.headers["content-length"] == get.headers["content-length"])
    #expect(get.text == "hello nobody -\n")
  }

  @Test(
    "HEAD of a body in chunks has the header of GET, no body and no length that would be wrong",
    .timeLimit(.minutes(4)), arguments: ["HTTP/1.1", "HTTP/1.0"])
  func headOfChunks(version: String) async throws {
    let taken = Counter()
    let bytes = try await withEventLoop { loop in
      let server = try Self.start(loop, routes: Self.routes(taken))
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("HEAD /numbers \(version)\r\nHost: a\r\nConnection: keep-alive\r\n\r\n")
      let bytes = try await client.receiveToEnd()
      await server.stop(by: loop.now())
      return bytes
    }
    let head = String(decoding: bytes, as: UTF8.self).lowercased()
    #expect(head.hasPrefix("http/1.1 200 ok\r\n") && head.hasSuffix("\r\n\r\n"))
    #expect(head.split(separator: "\r\n").contains("content-type: application/octet-stream"))
    #expect(!head.contains("content-length") && head.split(separator: "\r\n\r\n").count == 1)
    #expect(taken.value == 0)
  }

  @Test("a file that is no socket stays where a Unix socket should be", .timeLimit(.minutes(4)))
  func foreignFile() async throws {
    let path = "/tmp/reachd-http-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).txt"
    close(unsafe open(path, O_CREAT | O_WRONLY, 0o600))
    defer { _ = unsafe unlink(path) }
    let error = try await withEventLoop { loop in
      do {
        _ = try Self.start(loop, on: [.unix(path: path)])
      } catch let error as HTTPServerError {
        return error.description
      }
      return ""
    }
    #expect(
      error == "cannot listen on unix:\(path): bind: EEXIST; a file that is no socket is there: remove it or choose "
        + "another path")
    #expect(unsafe access(path, F_OK) == 0)
  }

  @Test("an unknown path is 404, a wrong method 405 with Allow, nonsense 400", .timeLimit(.minutes(4)))
  func refusals() async throws {
    let answers = Answers()
    let replies = try await withEventLoop { loop in
      let server = try Self.start(loop, answers: answers)
      var replies: [TestClient.Reply] = []
      for line in ["GET /nothing", "POST /hello", "GET /echo", "BREW /hello", "GET http://a.example/hello?name=b"] {
        replies.append(
          try await Self.ask(server, loop, "\(line) HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n"))
      }
      replies.append(try await Self.ask(server, loop, "GET /hello HTTP/1.1\r\nHost a b c\r\n\r\n"))
      await server.stop(by: loop.now())
      return replies
    }
    #expect(replies.map(\.status) == [404, 405, 405, 405, 200, 400])
    #expect(replies.map { $0.headers["allow"] } == [nil, "GET, HEAD", "POST, PUT", "GET, HEAD", nil, nil])
    #expect(replies.prefix(5).allSatisfy { $0.headers["content-type"] == "text/plain; charset=utf-8" })
    #expect(answers.all == ["other 404", "/hello 405", "/echo 405", "/hello 405", "/hello 200"])
  }

  @Test("several requests on one connection, sent at once, are answered in order", .timeLimit(.minutes(4)))
  func keepAlive() async throws {
    let texts = try await withEventLoop { loop in
      let server = try Self.start(loop)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      let requests = (1...5).map { "GET /hello?name=\($0) HTTP/1.1\r\nHost: a\r\n\r\n" }
      try await client.send(requests.joined())
      var texts: [String] = []
      for _ in requests { texts.append(try await client.reply().text) }
      await server.stop(by: loop.now())
      return texts
    }
    #expect(texts == (1...5).map { "hello \($0) -\n" })
  }

  @Test("a body is handed to the handler; one above the limit is refused", .timeLimit(.minutes(4)))
  func bodies() async throws {
    let (taken, declared, undeclared) = try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.bodyBytes = 1000
      let server = try Self.start(loop, limits: limits)
      let body = String(repeating: "b", count: 1000)
      let taken = try await Self.ask(
        server, loop, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n\(body)")
      let declared = try await Self.ask(
        server, loop, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\n\r\n\(body)b")
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3e9\r\n\(body)b\r\n")
      let undeclared = try await client.receiveToEnd()
      await server.stop(by: loop.now())
      return (taken, declared, undeclared)
    }
    #expect(taken.status == 200 && taken.body.count == 1000)
    #expect(declared.status == 413)
    #expect(undeclared.isEmpty)
  }

  @Test("a header larger than the limit is refused", .timeLimit(.minutes(4)))
  func largeHeader() async throws {
    let limits = HTTPLimits()
    let reply = try await withEventLoop { loop in
      let server = try Self.start(loop, limits: limits)
      // No more than the server reads: what it leaves unread makes the kernel reset the connection and lose the answer.
      let filler = String(repeating: "f", count: limits.headerBytes)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send("GET /hello HTTP/1.1\r\nHost: a\r\nX-Filler: \(filler)")
      let reply = try await client.receiveToEnd()
      await server.stop(by: loop.now())
      return String(decoding: reply, as: UTF8.self)
    }
    #expect(reply.hasPrefix("HTTP/1.1 431"))
  }

  @Test(
    "a large body in chunks arrives whole at a slow reader, written no faster than it reads", .timeLimit(.minutes(4)))
  func slowReader() async throws {
    let taken = Counter()
    let (body, ahead, quick) = try await withEventLoop { loop in
      let server = try Self.start(loop, routes: Self.routes(taken, size: 8_000_000))
      var slow = try await TestClient(to: server.addresses[0], on: loop, receiveBuffer: 4096)
      try await slow.send("GET /numbers HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      _ = try await loop.wait(on: slow.number, for: .readable, until: .distantFuture)
      // While it does not read, others are answered, and the source is not emptied.
      var quick: [Int] = []
      for _ in 0..<20 {
        quick.append(try await Self.ask(server, loop, "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n").status)
      }
      let ahead = taken.value
      let reply = try await slow.reply()
      await server.stop(by: loop.now())
      return (reply.body, ahead, quick)
    }
    #expect(quick == Array(repeating: 200, count: 20))
    // What the kernel's send buffer may take (4 MiB at most by default, net.ipv4.tcp_wmem).
    #expect(ahead < 6_000_000)
    #expect(body == Numbers.expected(8_000_000))
  }

  @Test("a large body of known length is sent with its length", .timeLimit(.minutes(4)))
  func large() async throws {
    let reply = try await withEventLoop { loop in
      let server = try Self.start(loop)
      let reply = try await Self.ask(server, loop, "GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
      await server.stop(by: loop.now())
      return reply
    }
    #expect(reply.headers["content-length"] == "100000")
    #expect(reply.body == Numbers.expected(100_000))
  }

  @Test(
    "a body without a byte is an answer too, and a source that never ends it does not hang", .timeLimit(.minutes(4)))
  func empty() async throws {
    struct Nothing: ChunkSource {
      mutating func next(into bytes: inout [UInt8]) -> Bool { true }
    }
    let replies = try await withEventLoop { loop in
      var routes = HTTPRoutes()
      routes.add("/bytes") { _ in .text("") }
      routes.add("/chunks") { _ in HTTPResponse(contentType: "text/plain", body: .chunks(Nothing())) }
      let server = try Self.start(loop, routes: routes)
      let bytes = try await Self.ask(server, loop, "GET /bytes HTTP/1.1\r\nHost: a\r\n\r\n")
      let chunks = try await Self.ask(server, loop, "GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n")
      await server.stop(by: loop.now())
      return [bytes, chunks]
    }
    #expect(replies.map(\.status) == [200, 200])
    #expect(replies.allSatisfy { $0.body.isEmpty })
  }

  @Test("HTTP/1.0 gets a body without chunks, ended by the connection's end", .timeLimit(.minutes(4)))
  func oldClient() async throws {
    let reply = try await withEventLoop { loop in
      let server = try Self.start(loop, routes: Self.routes(size: 30_000))
      let reply = try await Self.ask(server, loop, "GET /numbers HTTP/1.0\r\n\r\n")
      await server.stop(by: loop.now())
      return reply
    }
    #expect(reply.headers["transfer-encoding"] == nil)
    #expect(reply.body == Numbers.expected(30_000))
  }

  @Test("two addresses, a Unix socket and IPv6 are served side by side, without a thread", .timeLimit(.minutes(4)))
  func listeners() async throws {
    let path = "/tmp/reachd-http-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
    let (texts, isThreadless, locals) = try await withEventLoop { loop in
      let six = ListenAddress.address(IPAddress(ipv6High: 0, low: 1), port: 0)
      let server = try Self.start(
        loop, on: [Self.loopback, Self.loopback, six, .unix(path: path), .anyAddress(port: 0)])
      var texts: [String] = []
      for address in server.addresses {
        var client = try await TestClient(to: address, on: loop)
        try await client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
        texts.append(try await client.reply().text)
      }
      let isThreadless = server.isThreadless
      let locals = server.addresses.map(\.isLocal)
      await server.stop(by: loop.now())
      return (texts, isThreadless, locals)
    }
    #expect(texts == Array(repeating: "hello nobody -\n", count: 5))
    #expect(isThreadless)
    #expect(locals == [true, true, true, true, false])
    #expect(unsafe access(path, F_OK) != 0)
  }

  @Test("a Unix socket that a killed process left is taken over, one that is in use is not", .timeLimit(.minutes(4)))
  func staleSocket() async throws {
    let path = "/tmp/reachd-http-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
    let error = try await withEventLoop { loop in
      let left = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_un()
      address.sun_family = sa_family_t(AF_UNIX)
      unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
      _ = unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          unsafe bind(left, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
      }
      close(left)
      let server = try Self.start(loop, on: [.unix(path: path)])
      defer { _ = unsafe unlink(path) }
      do {
        _ = try Self.start(loop, on: [Self.loopback, .unix(path: path)])
      } catch let error as HTTPServerError {
        await server.stop(by: loop.now())
        return error.description
      }
      return ""
    }
    #expect(
      error == "cannot listen on unix:\(path): bind: EADDRINUSE; another process listens there: stop it or choose "
        + "another address")
  }

  @Test("stop lets an answer under way end, and cuts one that does not by the deadline", .timeLimit(.minutes(4)))
  func stops() async throws {
    let (whole, cut) = try await withEventLoop { loop in
      let server = try Self.start(loop, routes: Self.routes(size: 8_000_000))
      var client = try await TestClient(to: server.addresses[0], on: loop, receiveBuffer: 4096)
      try await client.send("GET /numbers HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
      _ = try await loop.wait(on: client.number, for: .readable, until: .distantFuture)
      loop.spawn { await server.stop(by: .distantFuture) }
      let whole = try await client.reply().body.count

      let other = try Self.start(loop, routes: Self.routes(size: 8_000_000))
      var stuck = try await TestClient(to: other.addresses[0], on: loop, receiveBuffer: 4096)
      try await stuck.send("GET /numbers HTTP/1.1\r\nHost: a\r\n\r\n")
      _ = try await loop.wait(on: stuck.number, for: .readable, until: .distantFuture)
      await other.stop(by: loop.now().advanced(by: .milliseconds(20)))
      let cut = try await stuck.receiveToEnd().count
      return (whole, cut)
    }
    #expect(whole == 8_000_000)
    #expect(cut < 8_000_000)
  }

  @Test("more connections than the limit are served in their turn", .timeLimit(.minutes(4)))
  func connectionLimit() async throws {
    let statuses = try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.connections = 4
      let server = try Self.start(loop, limits: limits)
      let address = server.addresses[0]
      let statuses = await withTaskGroup(of: Int.self) { group in
        for _ in 0..<20 {
          group.addTask(executorPreference: loop) {
            do {
              var client = try await TestClient(to: address, on: loop)
              try await client.send("GET /hello HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
              return try await client.reply().status
            } catch { return -1 }
          }
        }
        return await group.reduce(into: []) { $0.append($1) }
      }
      await server.stop(by: loop.now())
      return statuses
    }
    #expect(statuses == Array(repeating: 200, count: 20))
  }
}
