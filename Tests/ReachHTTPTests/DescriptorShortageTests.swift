import Glibc
import ReachCore
import ReachHTTP
import ReachIO
import ReachTestSupport
import Testing

/// A process that has no descriptor for a client.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct DescriptorShortageTests {
  @Test("a client that cannot be accepted turns the loop for nothing now and then only, and is served once it can")
  func shortage() async throws {
    // The thread has a table of descriptors of its own, which is filled up here.
    let (turns, status) = try await withNetworkNamespace(isolatesDescriptors: true) { loop, _ in
      let server = HTTPServer(on: loop, routes: HTTPServerTests.routes())
      try server.listen(on: [HTTPServerTests.loopback])
      var filler: [Int32] = []
      while true {
        let descriptor = dup(2)
        guard descriptor >= 0 else { break }
        filler.append(descriptor)
      }
      // The one that is left is the client's own.
      if let last = filler.popLast() { close(last) }
      var client = try await TestClient(to: server.addresses[0], on: loop)
      let before = loop.turns
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(500)))
      let turns = loop.turns - before
      for descriptor in filler { close(descriptor) }
      try await client.send("GET /hello HTTP/1.1\r\nHost: a\r\n\r\n")
      let status = try await client.reply().status
      await server.stop(by: loop.now())
      return (turns, status)
    }
    #expect(turns < 100)
    #expect(status == 200)
  }
}
