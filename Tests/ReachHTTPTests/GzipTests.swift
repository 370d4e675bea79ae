import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachHTTP

/// So many bytes of text, in lines, whose pieces are counted.
struct Lines: ChunkSource {
  var left: Int
  var taken = Counter()

  private static let piece = Array(
    (0..<300).map { "reachability_probe_success{target=\"host-\($0)\",probe=\"tcp\"} 1\n" }.joined().utf8)

  mutating func next(into bytes: inout [UInt8]) -> Bool {
    let count = min(left, Self.piece.count)
    bytes.append(contentsOf: Self.piece[..<count])
    left -= count
    taken.add(count)
    return count > 0
  }

  static func text(_ count: Int) -> [UInt8] {
    var lines = Lines(left: count)
    var bytes: [UInt8] = []
    while lines.next(into: &bytes) {}
    return bytes
  }
}

@Suite(.timeLimit(.minutes(4)))
struct GzipTests {
  static func routes(size: Int = 100_000, taken: Counter = Counter()) -> HTTPRoutes {
    var routes = HTTPRoutes()
    routes.add("/chunks") { _ in
      HTTPResponse(contentType: "text/plain; version=0.0.4", body: .chunks(Lines(left: size, taken: taken)))
    }
    routes.add("/bytes") { _ in HTTPResponse(contentType: "application/json", body: .bytes(Lines.text(size))) }
    routes.add("/picture") { _ in HTTPResponse(contentType: "image/png", body: .bytes(Lines.text(size))) }
    routes.add("/negotiated") { _ in
      HTTPResponse(
        contentType: "text/plain", headers: [HTTPRequest.Field("vary", "Accept")], body: .bytes(Lines.text(size)))
    }
    routes.add("/failed") { _ in .text(String(decoding: Lines.text(size), as: UTF8.self), status: 500) }
    return routes
  }

  static func ask(
    _ path: String, accepting coding: String?, method: String = "GET", routes: HTTPRoutes = routes()
  ) async throws -> TestClient.Reply {
    try await withEventLoop { loop in
      let server = try HTTPServerTests.start(loop, routes: routes)
      let field = coding.map { "Accept-Encoding: \($0)\r\n" } ?? ""
      let isHead = method == "HEAD"
      let reply = try await HTTPServerTests.ask(
        server, loop, "\(method) \(path) HTTP/1.1\r\nHost: a\r\n\(field)\r\n", toHead: isHead)
      await server.stop(by: loop.now())
      return reply
    }
  }

  static func unpacked(_ bytes: [UInt8]) throws -> [UInt8] {
    let stream = try #require(GunzipStream(bytes))
    var text: [UInt8] = []
    while stream.next(into: &text) {}
    return text
  }

  @Test(
    "a client that accepts gzip gets it, and the text comes back whole, whatever its size",
    arguments: ["/bytes", "/chunks"], [1024, 5000, 32 * 1024, 32 * 1024 + 1, 100_000, 4_200_000])
  func sizes(path: String, size: Int) async throws {
    let reply = try await Self.ask(path, accepting: "gzip", routes: Self.routes(size: size))
    #expect(reply.status == 200)
    #expect(reply.headers["content-encoding"] == "gzip")
    #expect(reply.headers["vary"] == "Accept-Encoding")
    let isWhole = path == "/bytes" && size <= 32 * 1024
    #expect(reply.headers["content-length"] == (isWhole ? "\(reply.body.count)" : nil))
    #expect(try Self.unpacked(reply.body) == Lines.text(size))
    #expect(reply.body.count < size / 5 + 100)
  }

  @Test(
    "the coding is the one that the client wants",
    arguments: [
      (nil, nil), ("", nil), ("gzip", "gzip"), ("gzip, deflate, br", "gzip"), ("x-gzip", "gzip"), ("*", "gzip"),
      ("br", nil), ("gzip;q=0", nil), ("gzip;q=0, *", nil), ("identity", nil), ("gzip;q=0.5, identity;q=0.9", nil),
      ("gzip;q=0.9, identity;q=0.5", "gzip"), ("identity;q=0, gzip;q=0.1", "gzip"), ("deflate, gzip;q=1.0", "gzip"),
    ] as [(String?, String?)])
  func negotiation(accepted: String?, coding: String?) async throws {
    let reply = try await Self.ask("/bytes", accepting: accepted)
    #expect(reply.status == 200 && reply.headers["content-encoding"] == coding)
    #expect(reply.headers["vary"] == "Accept-Encoding")
    #expect(try (coding == nil ? reply.body : Self.unpacked(reply.body)) == Lines.text(100_000))
  }

  @Test("who accepts neither gzip nor going without is told that there is nothing else")
  func neither() async throws {
    for accepted in ["identity;q=0", "*;q=0", "gzip;q=0, identity;q=0, br"] {
      let reply = try await Self.ask("/chunks", accepting: accepted)
      #expect(reply.status == 406 && reply.headers["content-encoding"] == nil)
      #expect(reply.text == "neither gzip nor going without is accepted\n")
    }
  }

  @Test("a small text, a picture and a failure go without, unless that is excluded")
  func uncompressed() async throws {
    let small = try await Self.ask("/bytes", accepting: "gzip", routes: Self.routes(size: 1023))
    #expect(small.headers["content-encoding"] == nil && small.headers["vary"] == "Accept-Encoding")
    let picture = try await Self.ask("/picture", accepting: "gzip")
    #expect(picture.headers["content-encoding"] == nil && picture.headers["vary"] == nil)
    let failed = try await Self.ask("/failed", accepting: "gzip")
    #expect(failed.status == 500 && failed.headers["content-encoding"] == nil)
    let asked = try await Self.ask("/bytes", accepting: "gzip, identity;q=0", routes: Self.routes(size: 100))
    #expect(try asked.headers["content-encoding"] == "gzip" && Self.unpacked(asked.body) == Lines.text(100))
  }

  @Test("what the handler varies by is kept")
  func vary() async throws {
    let reply = try await Self.ask("/negotiated", accepting: "gzip")
    #expect(reply.headers["vary"] == "Accept, Accept-Encoding")
    var response = HTTPResponse.text("")
    response.headers = [HTTPRequest.Field("Vary", "accept-encoding , Accept")]
    response.vary(by: "Accept-Encoding")
    #expect(response.headers == [HTTPRequest.Field("Vary", "accept-encoding , Accept")])
    response.headers = [HTTPRequest.Field("Vary", "*")]
    response.vary(by: "Accept-Encoding")
    #expect(response.headers == [HTTPRequest.Field("Vary", "*")])
  }

  @Test("HEAD says of the coding what GET says", arguments: ["/bytes", "/chunks"])
  func head(path: String) async throws {
    let head = try await Self.ask(path, accepting: "gzip", method: "HEAD")
    #expect(head.headers["content-encoding"] == "gzip" && head.headers["vary"] == "Accept-Encoding")
    #expect(head.body.isEmpty && head.headers["content-length"] == nil)
  }

  @Test("a body is compressed no faster than the client takes it")
  func slowReader() async throws {
    let taken = Counter()
    let (ahead, body) = try await withEventLoop { loop in
      // Text that does not shrink to nothing, or the kernel's buffers would hold all of it.
      var routes = HTTPRoutes()
      routes.add("/noise") { _ in HTTPResponse(contentType: "text/plain", body: .chunks(Noise(left: 8_000_000, taken)))
      }
      let server = try HTTPServerTests.start(loop, routes: routes)
      var client = try await TestClient(to: server.addresses[0], on: loop, receiveBuffer: 4096)
      try await client.send("GET /noise HTTP/1.1\r\nHost: a\r\nAccept-Encoding: gzip\r\nConnection: close\r\n\r\n")
      _ = try await loop.wait(on: client.number, for: .readable, until: .distantFuture)
      for _ in 0..<20 { _ = try await HTTPServerTests.ask(server, loop, SlowClientTests.greeting) }
      let ahead = taken.value
      let reply = try await client.reply()
      await server.stop(by: loop.now())
      return (ahead, reply.body)
    }
    #expect(ahead < 4_000_000)
    #expect(try Self.unpacked(body).count == 8_000_000)
  }

  @Test("a text that is kept compressed comes back whole, as often as it is asked for")
  func kept() throws {
    for size in [0, 1, 40_000, 3_000_000] {
      let kept = try #require(KeptText(Lines(left: size)))
      #expect(kept.keptSize < size / 10 + 100)
      for _ in 0..<2 {
        guard case .chunks(var source) = kept.body else { throw TestClient.Failure(what: "no chunks") }
        var text: [UInt8] = []
        while source.next(into: &text) {}
        #expect(text == Lines.text(size))
      }
    }
  }

  @Test("bytes that are no gzip end at once")
  func garbage() throws {
    for bytes in [[], [0x1f], [UInt8](repeating: 0xff, count: 1000), Lines.text(5000)] {
      #expect(try Self.unpacked(bytes).isEmpty)
    }
  }
}

/// Characters that seem drawn by lot.
private struct Noise: ChunkSource {
  var left: Int
  let taken: Counter
  private var state: UInt64 = 0x9e37_79b9_7f4a_7c15

  init(left: Int, _ taken: Counter) {
    self.left = left
    self.taken = taken
  }

  mutating func next(into bytes: inout [UInt8]) -> Bool {
    let count = min(left, 16_000)
    for _ in 0..<count {
      state ^= state << 13
      state ^= state >> 7
      state ^= state << 17
      bytes.append(UInt8(32 + state % 90))
    }
    left -= count
    taken.add(count)
    return count > 0
  }
}
