import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// Clients that would keep what others need.
@Suite(.timeLimit(.minutes(4)))
struct SlowClientTests {
  static let greeting = "GET /hello HTTP/1.1\r\nHost: a\r\n\r\n"

  @Test(
    "a client that never ends its request is cut off, however busily it sends",
    arguments: [
      "", "GET /hel", "GET /hello HTTP/1.1\r\nHost: a\r\nX-", greeting + "GET /hello HTTP/1.1\r\nX-",
      "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n",
    ])
  func slowRequest(beginning: String) async throws {
    let answered = try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.request = .milliseconds(100)
      let server = try HTTPServerTests.start(loop, limits: limits)
      var client = try await TestClient(to: server.addresses[0], on: loop)
      try await client.send(beginning)
      // Bytes of a header or of a body, one each turn: the library's own timeout would begin anew with each.
      while server.connections > 0 {
        if !beginning.isEmpty { try? await client.send("b") }
        await loop.sleep(until: loop.now().advanced(by: .milliseconds(5)))
      }
      let answered = String(decoding: (try? await client.receiveToEnd()) ?? [], as: UTF8.self)
      await server.stop(by: loop.now())
      return answered
    }
    #expect(answered.split(separator: "HTTP/1.1 200").count <= (beginning.hasPrefix(Self.greeting) ? 1 : 0))
  }

  @Test("readers that stand still hold no place for ever: the next client is answered")
  func stuckReaders() async throws {
    let reply = try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.connections = 3
      limits.answer = .milliseconds(200)
      let server = try HTTPServerTests.start(loop, limits: limits)
      var stuck: [Stuck] = []
      for _ in 0..<3 {
        let client = try await TestClient(to: server.addresses[0], on: loop, receiveBuffer: 4096)
        try await client.send("GET /numbers HTTP/1.1\r\nHost: a\r\n\r\n")
        _ = try await loop.wait(on: client.number, for: .readable, until: .distantFuture)
        stuck.append(Stuck(client))
      }
      let reply = try await HTTPServerTests.ask(server, loop, Self.greeting)
      withExtendedLifetime(stuck) {}
      await server.stop(by: loop.now())
      return reply
    }
    #expect(reply.status == 200)
  }

  @Test("one address has only so many connections, and another its own")
  func perAddress() async throws {
    let (third, foreign, first) = try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.connectionsPerAddress = 2
      let server = try HTTPServerTests.start(loop, limits: limits)
      let address = server.addresses[0]
      var first = try await TestClient(to: address, on: loop)
      let second = try await TestClient(to: address, on: loop)
      var third = try await TestClient(to: address, on: loop)
      let refused = try await third.receiveToEnd()
      var foreign = try await TestClient(to: address, on: loop, source: IPAddress(ipv4: 0x7f00_0002))
      try await foreign.send(Self.greeting)
      let answer = try await foreign.reply()
      try await first.send(Self.greeting)
      let reply = try await first.reply()
      _ = second.number
      await server.stop(by: loop.now())
      return (refused, answer, reply)
    }
    #expect(third.isEmpty)
    #expect(foreign.status == 200)
    #expect(first.status == 200)
  }

  @Test("a Unix socket, where everybody has the same address, has no such limit")
  func unixClients() async throws {
    let folder = try TestFolder()
    let statuses = try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.connectionsPerAddress = 2
      let server = try HTTPServerTests.start(loop, limits: limits, on: [.unix(path: folder.path + "/socket")])
      var kept: [Stuck] = []
      var statuses: [Int] = []
      for _ in 0..<5 {
        var client = try await TestClient(to: server.addresses[0], on: loop)
        try await client.send(Self.greeting)
        statuses.append(try await client.reply().status)
        kept.append(Stuck(client))
      }
      withExtendedLifetime(kept) {}
      await server.stop(by: loop.now())
      return statuses
    }
    #expect(statuses == Array(repeating: 200, count: 5))
  }

  @Test("when all places are taken, the connection that has been idle longest makes way")
  func idleMakesWay() async throws {
    let (rest, second, third) = try await withEventLoop { loop in
      var limits = HTTPLimits()
      limits.connections = 3
      let server = try HTTPServerTests.start(loop, limits: limits)
      let address = server.addresses[0]
      var first = try await TestClient(to: address, on: loop)
      try await first.send(Self.greeting)
      _ = try await first.reply()
      var second = try await TestClient(to: address, on: loop)
      try await second.send(Self.greeting)
      _ = try await second.reply()
      var third = try await TestClient(to: address, on: loop)
      try await third.send(Self.greeting)
      let thirdReply = try await third.reply()
      let rest = try await first.receiveToEnd()
      try await second.send(Self.greeting)
      let secondReply = try await second.reply()
      await server.stop(by: loop.now())
      return (rest, secondReply, thirdReply)
    }
    #expect(rest.isEmpty)
    #expect(second.status == 200 && third.status == 200)
  }
}

/// Keeps a client open.
private final class Stuck {
  let client: TestClient
  init(_ client: consuming TestClient) { self.client = client }
}
