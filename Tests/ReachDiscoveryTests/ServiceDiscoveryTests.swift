import ReachConfig
import ReachCore
import ReachDiscovery
import ReachIO
import ReachTestSupport
import Testing

/// Targets of SRV records, by a name server on this host.
@Suite(.timeLimit(.minutes(4))) struct ServiceDiscoveryTests {
  private static func record(_ priority: UInt16, _ name: String, _ port: UInt16, ttl: UInt32 = 1) -> Wire.Record {
    Wire.Record(
      owner: Wire.questionName, type: 33, ttl: ttl,
      data: Wire.word(priority) + Wire.word(0) + Wire.word(port) + Wire.name(name))
  }

  @Test("the records are targets, followed as they change, and an answer that is none keeps them")
  func follows() async throws {
    try await withDiscovery { stage in
      let answers = LoopConfined(
        [Self.record(10, "B.example", 5432), Self.record(1, "a.example", 5433)], on: stage.loop)
      let code = LoopConfined(UInt16(0), on: stage.loop)
      let server = try FakeNameServer(stage.loop) { query in
        let code = code.withState { $0 }
        return .reply(query.answer(code == 0 ? answers.withState { $0 } : [], code: code))
      }
      try await stage.start(
        "targets_from: [{ srv: _db._tcp.example, server: '127.0.0.1:\(server.port)', refresh: 1s, labels: { a: b } }]")
      try await stage.wait(for: ["a.example:5433", "b.example:5432"])
      #expect(server.queries.first?.name == "_db._tcp.example" && server.queries.first?.type == 33)
      #expect(stage.lists.last?.first?.target.labels == [Label(name: "a", value: "b")])
      answers.withState { _ = $0.removeLast() }
      try await stage.wait(for: ["b.example:5432"])
      code.withState { $0 = 2 }
      try await stage.wait("the failure") { !stage.problems.isEmpty }
      #expect(stage.names == ["b.example:5432"])
      code.withState { $0 = 3 }
      try await stage.wait(for: [])
      server.stop()
    }
  }

  @Test("records that do not fit into a datagram are asked for over TCP")
  func truncated() async throws {
    try await withDiscovery { stage in
      let records = (0..<60).map { Self.record(1, "host-number-\($0).a-long-name.example", 1000 + UInt16($0)) }
      let server = try FakeNameServer(stage.loop) { query in
        .reply(query.isTCP ? query.answer(records) : query.answer([], flags: Wire.Flags.truncated))
      }
      try await stage.start("targets_from: [{ srv: _many._tcp.example, server: '127.0.0.1:\(server.port)' }]")
      try await stage.wait("sixty targets") { stage.names.count == 60 }
      server.stop()
    }
  }
}

extension ServiceDiscoveryTests {
  @Test("a silent name server is a failure that ends, and stopping does not wait for it")
  func silent() async throws {
    try await withDiscovery { stage in
      let server = try FakeNameServer(stage.loop) { _ in .silence }
      try await stage.start("targets_from: [{ srv: _db._tcp.example, server: '127.0.0.1:\(server.port)' }]")
      try await stage.wait("the failure") { !stage.problems.isEmpty }
      #expect(stage.names == [])
      stage.stop()
      server.stop()
    }
  }
}
