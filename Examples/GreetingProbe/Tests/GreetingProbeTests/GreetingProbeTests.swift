import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import GreetingProbe

@Suite(.enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct GreetingProbeTests {
  private static func findings(
    of probe: GreetingProbe, at port: UInt16?, _ candidates: [Candidate], within timeout: Duration = .seconds(20),
    host: ProbeHost
  ) async throws -> [TCPFinding.Result] {
    let target = Target(name: "target", kind: .address(.loopback), port: port)
    guard case .tcp(let findings) = try await probe.probe(target, in: host.context(candidates, within: timeout)) else {
      return []
    }
    return findings.map(\.result)
  }

  @Test("what comes of a greeting that is right, wrong, missing, silent or refused")
  func outcomes() async throws {
    try await withNetworkNamespace { loop, _ in
      let host = try ProbeHost.onThisLoop(loop)
      let right = try Greeter(saying: "SSH-2.0-OpenSSH_9.2\r\n", loop: loop)
      let wrong = try Greeter(saying: "220 mail.example\r\n", loop: loop)
      let missing = try Greeter(saying: nil, thenCloses: true, loop: loop)
      let silent = try Greeter(saying: nil, loop: loop)
      let closed = try TestPort(.closed)
      let probe = GreetingProbe(prefix: Array("SSH-2.0-".utf8))
      for (port, timeout, expected) in [
        (right.port.number, Duration.seconds(20), TCPFinding.Result.open),
        (wrong.port.number, .seconds(20), .failed(.tcpRefused)),
        (missing.port.number, .seconds(20), .failed(.tcpRefused)),
        (silent.port.number, .milliseconds(200), .failed(.tcpTimeout)),
        (closed.number, .seconds(20), .failed(.tcpRefused)),
      ] {
        let seen = try await Self.findings(of: probe, at: port, [Candidate(.loopback)], within: timeout, host: host)
        #expect(seen == [expected])
      }
    }
  }

  @Test("every address of both families is tried, side by side or in turn, and each finding is at its place")
  func addresses() async throws {
    try await withNetworkNamespace { loop, _ in
      let greeter = try Greeter(saying: "220 hello\r\n", on: "::", loop: loop)
      let refused = Candidate("192.0.2.9", route: RouteFinding(.refused(.noRoute)))
      let candidates = [Candidate(.loopback6), refused, Candidate("127.0.0.2"), Candidate(.loopback)]
      for spare in [8, 0] {
        let host = try ProbeHost.onThisLoop(loop, connections: SocketAllowance(spare, on: loop))
        let seen = try await Self.findings(of: GreetingProbe(), at: greeter.port.number, candidates, host: host)
        #expect(seen == [.open, .notRun, .open, .open])
        #expect(host.connections.free == spare)
      }
    }
  }

  @Test("without a port nothing is probed, and that is no fault of the target")
  func noPort() async throws {
    try await withNetworkNamespace { loop, _ in
      let host = try ProbeHost.onThisLoop(loop)
      await #expect(throws: LocalFault.self) {
        _ = try await Self.findings(of: GreetingProbe(), at: nil, [Candidate(.loopback)], host: host)
      }
    }
  }

  @Test("the greeting probe stands what every backend must stand")
  func conformance() async throws {
    let violations = try await conformanceViolations(of: GreetingProbe.registration) { loop, _ in
      let greeter = try Greeter(saying: "220 hello\r\n", loop: loop)
      let silent = try Greeter(saying: nil, loop: loop)
      let full = try TestPort(.full)
      func target(_ port: UInt16) -> Target { Target(name: "target", kind: .address(.loopback), port: port) }
      return [
        ConformanceCase(
          "greets", target: target(greeter.port.number), candidates: [Candidate(.loopback)], holding: [greeter]),
        ConformanceCase(
          "greets wrongly", target: target(greeter.port.number), candidates: [Candidate(.loopback)],
          options: OptionValues(["starts_with": .string("SSH-")])),
        ConformanceCase(
          "silent", target: target(silent.port.number), candidates: [Candidate(.loopback), Candidate("127.0.0.2")],
          holding: [silent]),
        ConformanceCase(
          "not accepted", target: target(full.number), candidates: [Candidate(.loopback)], holding: [full]),
        ConformanceCase("no candidates", target: target(1), candidates: []),
      ]
    }
    #expect(violations == [])
  }
}
