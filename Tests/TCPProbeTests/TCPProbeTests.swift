import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import TCPProbe

/// What needs no network of its own.
@Suite(.timeLimit(.minutes(4))) struct TCPProbeTests {
  @Test("an open port is open by the kernel's own round trip, whether the probe waits for it or not")
  func open() async throws {
    let port = try TestPort(.open)
    let findings = try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      // The route probe's word is taken: one waits on epoll, the other has ended with connect(2).
      let candidates = [
        Candidate(port.address, route: .leaving), Candidate(port.address, route: .own), Candidate(port.address),
      ]
      return try await host.tcpFindings(candidates, port: port.number)
    }
    #expect(findings.map(\.result) == [.open, .open, .open])
    for finding in findings { #expect(finding.rtt == nil || finding.duration == finding.rtt) }
  }

  @Test("a closed port is refused", arguments: [IPAddress.loopback, .loopback6])
  func refused(address: IPAddress) async throws {
    let port = try TestPort(.closed, on: address)
    let findings = try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      return try await host.tcpFindings([Candidate(address, route: .own), Candidate(address)], port: port.number)
    }
    #expect(findings.map(\.result) == [.failed(.tcpRefused), .failed(.tcpRefused)])
    for finding in findings {
      #expect(finding.rtt == nil)
      #expect(finding.duration != nil)
    }
  }

  @Test("a full backlog is a time-out at the deadline, and one dead address does not cost the others theirs")
  func timeout() async throws {
    let full = try TestPort(.full, on: "127.0.0.2")
    let candidates = [Candidate("127.0.0.2", route: .leaving), Candidate("127.0.0.3"), Candidate("127.0.0.4")]
    let findings = try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      return try await host.tcpFindings(candidates, port: full.number, within: .milliseconds(50))
    }
    #expect(findings.map(\.result) == [.failed(.tcpTimeout), .failed(.tcpRefused), .failed(.tcpRefused)])
  }

  @Test("more addresses than one wave are all tried, the dead ones in front notwithstanding")
  func waves() async throws {
    let full = try TestPort(.full)
    let dead = [Candidate](repeating: Candidate(.loopback, route: .leaving), count: 40)
    let findings = try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      return try await host.tcpFindings(
        dead + [Candidate("127.0.0.7")], port: full.number, within: .milliseconds(100))
    }
    #expect(findings.dropLast().allSatisfy { $0.result == .failed(.tcpTimeout) })
    #expect(findings.last?.result == .failed(.tcpRefused))
  }

  @Test("the option's port comes before the target's, and without either the fault says what to do")
  func ports() async throws {
    let port = try TestPort(.open)
    let outcome = try await withEventLoop { loop -> (TCPFinding.Result?, String) in
      let host = try ProbeHost.onThisLoop(loop)
      let probe = TCPProbe(port: port.number)
      let found = try await host.tcpFindings([Candidate(.loopback)], port: 1, probe: probe).first?.result
      do {
        _ = try await host.tcpFindings([Candidate(.loopback)], port: nil)
        return (found, "")
      } catch let fault as LocalFault {
        return (found, "\(fault.reason): \(fault.detail)")
      }
    }
    #expect(outcome.0 == .open)
    #expect(outcome.1 == "not_probed: no port: name one in the target, or set the tcp probe's option 'port'")
  }

  @Test("a time-out noticed much too late is this host's trouble, an answer that came meanwhile still counts")
  func starvation() async throws {
    let clock = ManualClock()
    let full = try TestPort(.full)
    let fault = try await withEventLoop(clock: clock) { loop -> LocalFault? in
      let host = try ProbeHost.onThisLoop(loop)
      let caught = LoopConfined<LocalFault?>(nil, on: loop)
      let task = loop.spawn {
        do { _ = try await host.tcpFindings([Candidate(.loopback, route: .leaving)], port: full.number) } catch {
          caught.withState { $0 = error as? LocalFault }
        }
      }
      await loop.settle()
      // In one leap, as for a process that was stopped.
      clock.advance(by: .seconds(22))
      await task.value
      return caught.withState { $0 }
    }
    #expect(fault?.reason == .backendOverran)
  }

  @Test("a deadline that has passed leaves everything untried")
  func passedDeadline() async throws {
    let port = try TestPort(.open)
    let findings = try await withEventLoop { loop in
      try await ProbeHost.onThisLoop(loop).tcpFindings(
        [Candidate(.loopback, route: .own)], port: port.number, within: .seconds(-1))
    }
    #expect(findings == [TCPFinding(.notRun)])
  }

  @Test(
    "what this host runs out of is its own fault, one address at a time",
    arguments: [EMFILE, ENFILE, ENOBUFS, ENOMEM, EAFNOSUPPORT])
  func exhausted(number: Int32) async throws {
    let port = try TestPort(.open)
    let findings = try await withEventLoop { loop in
      var calls = SocketCalls.system
      calls.open = { family throws(SystemError) in
        if family == .ipv6 { throw SystemError("socket", FaultCode(errno: number)) }
        return try Socket.openTCP(family)
      }
      return try await ProbeHost.onThisLoop(loop).tcpFindings(
        [Candidate(.loopback6), Candidate(.loopback)], port: port.number, probe: TCPProbe(calls: calls))
    }
    #expect(findings.map(\.result) == [.fault(FaultCode(errno: number)), .open])
  }

  @Test("a connection that a policy of this host forbids is a fault that says so")
  func forbidden() async throws {
    let fault = try await withEventLoop { loop -> LocalFault? in
      var calls = SocketCalls.system
      calls.connect = { _, _ throws(SystemError) in throw SystemError("connect", FaultCode(errno: EPERM)) }
      do {
        _ = try await ProbeHost.onThisLoop(loop).tcpFindings(
          [Candidate(.loopback)], port: 9, probe: TCPProbe(calls: calls))
        return nil
      } catch let fault as LocalFault {
        return fault
      }
    }
    #expect(fault?.reason == .probeError(FaultCode(errno: EPERM)))
    #expect(fault?.detail.contains("security policy") == true)
  }

  @Test("what is being done is told to whoever listens")
  func log() async throws {
    let port = try TestPort(.closed)
    let lines = try await withEventLoop { loop in
      let host = try ProbeHost.onThisLoop(loop)
      let log = Lines(loop)
      let target = Target(name: "target", kind: .address(.loopback), port: port.number)
      let context = ProbeContext(
        host: host, deadline: loop.now().advanced(by: .seconds(5)), candidates: [Candidate(.loopback)], log: log)
      _ = try await TCPProbe().probe(target, in: context)
      return log.lines.withState { $0 }
    }
    #expect(lines.count == 1)
    #expect(lines.first?.hasPrefix("127.0.0.1 port \(port.number): ") == true)
  }
}

private struct Lines: ProbeLog {
  let lines: LoopConfined<[String]>
  init(_ loop: EventLoop) { lines = LoopConfined([], on: loop) }
  func note(_ line: String) { lines.withState { $0.append(line) } }
}
