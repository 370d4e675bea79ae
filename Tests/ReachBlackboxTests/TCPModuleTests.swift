import ReachBlackbox
import ReachConfig
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

/// A module with the backend tcp against servers on loopback.
@Suite(.timeLimit(.minutes(4))) struct TCPModuleTests {
  private static func step(
    expect: String? = nil, send: String = "", bytes: String = "", labels: [ExchangeStep.Label]? = nil
  ) throws -> ExchangeStep {
    var step = ExchangeStep()
    step.expect = try expect.map { try RegularExpression($0) }
    step.send = Array(send.utf8)
    step.expectBytes = Array(bytes.utf8)
    step.labels = labels
    return step
  }

  @Test("an open port is a success, with the address that was connected to")
  func open() async throws {
    let (probed, refused) = try await withEventLoop { loop in
      let talker = try Talker(on: loop)
      let closed = try TestPort(.closed)
      return (
        try await probe(talker.target, by: TCPModule(), on: loop),
        try await probe("127.0.0.1:\(closed.number)", by: TCPModule(), on: loop)
      )
    }
    #expect(probed.outcome == .success, "\(probed.log)")
    #expect(probed.metrics.value("probe_ip_protocol") == 4)
    // FNV-1a of 7f 00 00 01.
    #expect(probed.metrics.value("probe_ip_addr_hash") == 3_668_918_509)
    #expect(
      probed.metrics.names == [
        "probe_dns_lookup_time_seconds", "probe_failed_due_to_bytes", "probe_failed_due_to_regex",
        "probe_ip_addr_hash", "probe_ip_protocol",
      ])
    #expect(refused.outcome == .failure && refused.log.contains("ECONNREFUSED"))
  }

  @Test("a target without a port, of the wrong family, or that is silent, is a failure with its reason in the log")
  func failures() async throws {
    try await withEventLoop { loop in
      let portless = try await probe("127.0.0.1", by: TCPModule(), on: loop)
      #expect(portless.outcome == .failure && portless.metrics.names.count == 2)
      var module = TCPModule()
      module.addressing.allowsOtherFamily = false
      let talker = try Talker(on: loop)
      let wrong = try await probe(talker.target, by: module, on: loop)
      #expect(wrong.outcome == .failure && wrong.metrics.value("probe_ip_protocol") == 0, "\(wrong.log)")
      let full = try TestPort(.full)
      let silent = try await probe("127.0.0.1:\(full.number)", by: TCPModule(), within: .milliseconds(50), on: loop)
      #expect(silent.outcome == .failure && silent.log.contains("no answer in time"))
      module.addressing.allowsOtherFamily = true
      module.addressing.source = "192.0.2.1"
      let foreign = try await probe(talker.target, by: module, on: loop)
      #expect(foreign.outcome == .failure && foreign.log.contains("EADDRNOTAVAIL"), "\(foreign.log)")
    }
  }

  @Test("a conversation is held line by line, and what a group took is sent back")
  func conversation() async throws {
    try await withEventLoop { loop in
      let talker = try Talker(on: loop)
      talker.serve { client in
        _ = try await client.hear(until: "USER prober\n")
        try await client.say(":server NOTICE\r\nPING :a1b2\r\n")
        if try await client.hear(until: "\n") == "PONG a1b2\n" { try await client.say(":server 001 welcome\r\n") }
        _ = try await client.hear(until: "never")
      }
      var module = TCPModule()
      module.exchange = [
        try Self.step(send: "NICK prober"), try Self.step(send: "USER prober"),
        try Self.step(expect: "PING :([^ ]+)", send: "PONG ${1}"), try Self.step(expect: "^:[^ ]+ 001"),
      ]
      let probed = try await probe(talker.target, by: module, on: loop)
      #expect(probed.outcome == .success, "\(probed.log)")
      #expect(probed.metrics.value("probe_failed_due_to_regex") == 0)
    }
  }

  @Test(
    "a peer that talks without end is ended at the deadline, and others have their turn meanwhile",
    arguments: ["\n", "hello\r\n"])
  func endless(line: String) async throws {
    try await withEventLoop { loop in
      let talker = try Talker(on: loop)
      talker.serve { client in
        let piece = String(repeating: line, count: 4_096)
        // Until the prober has closed the connection.
        while true {
          try await client.say(piece)
          await loop.sleep(until: loop.now())
        }
      }
      var module = TCPModule()
      module.exchange = [try Self.step(expect: "^never$")]
      let turns = LoopConfined(0, on: loop)
      let others = loop.spawn {
        while !Task.isCancelled {
          turns.withState { $0 += 1 }
          await loop.sleep(until: loop.now())
        }
      }
      let probed = try await probe(talker.target, by: module, within: .milliseconds(300), on: loop)
      others.cancel()
      #expect(probed.outcome == .failure && probed.log.contains("the time is over"), "\(probed.log.suffix(300))")
      #expect(turns.withState { $0 } > 10)
    }
  }

  @Test("labels are filled from the line that matched")
  func labels() async throws {
    try await withEventLoop { loop in
      let talker = try Talker(on: loop)
      talker.serve { client in
        try await client.say("SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
        _ = try await client.hear(until: "never")
      }
      var module = TCPModule()
      module.exchange = [
        try Self.step(
          expect: "^SSH-2.0-([^ -]+)(?: (.*))?$",
          labels: [.init(name: "version", value: "${1}"), .init(name: "comments", value: "${2}")])
      ]
      let probed = try await probe(talker.target, by: module, on: loop)
      let labels = [Label(name: "version", value: "OpenSSH_9.2p1"), Label(name: "comments", value: "Debian-2")]
      #expect(probed.metrics.value("probe_expect_info", labels) == 1, "\(probed.metrics.text)")
    }
  }

  @Test("the end of the stream before a match is due to the expression, and the end of time is not")
  func noMatch() async throws {
    try await withEventLoop { loop in
      var module = TCPModule()
      module.exchange = [try Self.step(expect: "never")]
      let talker = try Talker(on: loop)
      talker.serve { client in try await client.say("something else") }
      let ended = try await probe(talker.target, by: module, on: loop)
      #expect(ended.outcome == .failure && ended.metrics.value("probe_failed_due_to_regex") == 1, "\(ended.log)")
      #expect(ended.log.contains("something else"))
      talker.serve { client in _ = try await client.hear(until: "never") }
      let late = try await probe(talker.target, by: module, within: .milliseconds(100), on: loop)
      #expect(late.outcome == .failure && late.metrics.value("probe_failed_due_to_regex") == 0, "\(late.log)")
    }
  }

  @Test("octets are compared as they are, also behind a line and in pieces")
  func octets() async throws {
    try await withEventLoop { loop in
      var module = TCPModule()
      module.exchange = [try Self.step(expect: "hello"), try Self.step(bytes: "SX")]
      let talker = try Talker(on: loop)
      talker.serve { client in
        try await client.say("hello\nS")
        await loop.settle()
        try await client.say("X")
        _ = try await client.hear(until: "never")
      }
      let good = try await probe(talker.target, by: module, on: loop)
      #expect(good.outcome == .success && good.metrics.value("probe_failed_due_to_bytes") == 0, "\(good.log)")
      talker.serve { client in
        try await client.say("hello\nSY")
        _ = try await client.hear(until: "never")
      }
      let bad = try await probe(talker.target, by: module, on: loop)
      #expect(bad.outcome == .failure && bad.metrics.value("probe_failed_due_to_bytes") == 1, "\(bad.log)")
      talker.serve { client in try await client.say("hello\nS") }
      let short = try await probe(talker.target, by: module, on: loop)
      #expect(short.outcome == .failure && short.metrics.value("probe_failed_due_to_bytes") == 0, "\(short.log)")
    }
  }

  @Test("a peer that never ends a line costs bounded memory, and the page about it too")
  func endlessLine() async throws {
    try await withEventLoop { loop in
      var module = TCPModule()
      module.exchange = [try Self.step(expect: "never")]
      let talker = try Talker(on: loop)
      talker.serve { client in
        while true {
          try await client.say(String(repeating: "x", count: 16_000))
          await loop.settle()
        }
      }
      let probed = try await probe(talker.target, by: module, on: loop)
      #expect(probed.outcome == .failure && probed.log.contains("longer than"), "\(probed.log.prefix(2000))")
      talker.serve { client in
        for _ in 0..<200 {
          try await client.say(String(repeating: String(repeating: "y", count: 99) + "\n", count: 100))
          await loop.settle()
        }
      }
      let wordy = try await probe(talker.target, by: module, on: loop)
      #expect(wordy.log.utf8.count < 64 * 1024 && wordy.log.contains("more lines are left out"))
    }
  }

  @Test("a name is resolved by the backend, and its address must be allowed as well")
  func names() async throws {
    try await withEventLoop { loop in
      let talker = try Talker(on: loop)
      let resolver = FixedResolver(addresses: ["127.0.0.1"])
      let target = "name.example:\(talker.port.number)"
      let good = try await probe(target, by: TCPModule(), on: loop, resolver: resolver)
      #expect(good.outcome == .success, "\(good.log)")
      let refused = try await probe(target, by: TCPModule(), on: loop, resolver: resolver, allow: ["*"])
      guard case .refused(let refusal) = refused.outcome else {
        Issue.record("\(refused.outcome)")
        return
      }
      #expect(refusal.description.contains("name.example has the address 127.0.0.1"))
      #expect(try talker.port.accept() != nil)
      #expect(try talker.port.accept() == nil)
      let unknown = try await probe(target, by: TCPModule(), on: loop, resolver: FixedResolver(addresses: []))
      #expect(unknown.outcome == .failure && unknown.metrics.value("probe_ip_protocol") == 0)
    }
  }

  @Test("the preferred family is taken, and the other only where that will do")
  func families() async throws {
    try await withEventLoop { loop in
      let talker = try Talker(on: loop)
      let resolver = FixedResolver(addresses: ["192.0.2.77", "::1"])
      var module = TCPModule()
      let six = try await probe("n.example:\(talker.port.number)", by: module, on: loop, resolver: resolver)
      #expect(six.metrics.value("probe_ip_protocol") == 6)
      module.addressing.preferred = .ipv4
      let four = try await probe(
        "n.example:\(talker.port.number)", by: module, within: .milliseconds(50), on: loop, resolver: resolver)
      #expect(four.metrics.value("probe_ip_protocol") == 4)
      let only = FixedResolver(addresses: ["::1"])
      module.addressing.allowsOtherFamily = false
      let none = try await probe("n.example:\(talker.port.number)", by: module, on: loop, resolver: only)
      #expect(none.outcome == .failure && none.metrics.value("probe_ip_protocol") == 0)
    }
  }
}

/// Resolves every name to the same addresses; to none of them means that the name is unknown.
private struct FixedResolver: ProbeBackend {
  let addresses: [IPAddress]
  func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    .dns(addresses.isEmpty ? DNSFinding(.failed(.dnsNXDomain)) : DNSFinding(.resolved, addresses: addresses))
  }
}
