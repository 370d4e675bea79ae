import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import TCPProbe

/// What one address of several may cost the others.
@Suite(.timeLimit(.minutes(4))) struct AddressShareTests {
  private static let dead: IPAddress = "127.0.0.2"

  /// The state of a probe of a silent address and an open one, `after` so long of its 20 seconds.
  private func state(
    after: Duration, _ policy: TargetPolicy.Addresses, silent: Int = 1
  ) async throws -> (isOver: Bool, findings: [TCPFinding.Result]) {
    let clock = ManualClock()
    return try await withEventLoop(clock: clock) { loop in
      let full = try TestPort(.full, on: Self.dead)
      let open = try TestPort(.open)
      let host = try ProbeHost.onThisLoop(loop)
      var target = Target(name: "target", kind: .address(.loopback), port: open.number)
      target.policy = {
        var changed = TargetPolicy()
        changed.addresses = policy
        return changed
      }()
      let subject = target
      let candidates =
        [Candidate](repeating: Candidate(Self.dead, route: .leaving), count: silent)
        + [Candidate(.loopback, route: .leaving)]
      let found = LoopConfined<[TCPFinding]?>(nil, on: loop)
      let probe = TCPProbe(calls: Self.redirecting(Self.dead, to: full.number))
      let task = loop.spawn {
        let evidence = try? await probe.probe(subject, in: host.context(candidates, within: .seconds(20)))
        if case .tcp(let findings)? = evidence { found.withState { $0 = findings } }
      }
      await loop.settle()
      clock.advance(by: after)
      await loop.settle()
      let isOver = found.withState { $0 != nil }
      clock.advance(by: .seconds(20) - after)
      await task.value
      withExtendedLifetime((full, open)) {}
      return (isOver, found.withState { $0 ?? [] }.map(\.result))
    }
  }

  /// System calls that connect to another port at one address.
  private static func redirecting(_ address: IPAddress, to port: UInt16) -> SocketCalls {
    var calls = SocketCalls.system
    calls.connect = { socket, peer throws(SystemError) in
      try socket.connect(to: peer.address == address ? SocketAddress(address, port: port) : peer)
    }
    return calls
  }

  @Test("beside an open address a silent one takes its share of the time and no more")
  func share() async throws {
    let before = try await state(after: .milliseconds(9_900), .any)
    #expect(!before.isOver)
    let after = try await state(after: .seconds(10), .any)
    #expect(after.isOver)
    #expect(after.findings == [.failed(.tcpTimeout), .open])
    #expect(try await state(after: .seconds(5), .any, silent: 3).isOver)
  }

  @Test("a share is never so short that a lost packet could not be sent again")
  func leastShare() async throws {
    #expect(try await !state(after: .milliseconds(1_400), .any, silent: 15).isOver)
    #expect(try await state(after: .milliseconds(1_500), .any, silent: 15).isOver)
  }

  @Test("where every address has to be reachable, each has the whole time")
  func all() async throws {
    let seen = try await state(after: .seconds(19), .all)
    #expect(!seen.isOver)
    #expect(seen.findings == [.failed(.tcpTimeout), .open])
  }

  @Test("without descriptors to spare addresses are tried one after another, and the last one is found")
  func oneByOne() async throws {
    let findings = try await withEventLoop { loop -> [TCPFinding.Result] in
      let full = try TestPort(.full, on: Self.dead)
      let open = try TestPort(.open)
      let host = try ProbeHost.onThisLoop(loop, connections: SocketAllowance(0, on: loop))
      let candidates = [Self.dead, Self.dead, .loopback].map { Candidate($0, route: .leaving) }
      let findings = try await host.tcpFindings(
        candidates, port: open.number, within: .milliseconds(600),
        probe: TCPProbe(calls: Self.redirecting(Self.dead, to: full.number)))
      withExtendedLifetime((full, open)) {}
      return findings.map(\.result)
    }
    // Two hundred milliseconds are too little to say that an address is dead.
    let fault = TCPFinding.Result.fault(FaultCode(errno: EMFILE))
    #expect(findings == [fault, fault, .open])
  }

  @Test("every connection beside the first is taken from the allowance, and given back however the probe ends")
  func allowance() async throws {
    let (most, left) = try await withEventLoop { loop -> (Int, Int) in
      let allowance = SocketAllowance(5, on: loop)
      let host = try ProbeHost.onThisLoop(loop, connections: allowance)
      let full = try TestPort(.full)
      let candidates = [Candidate](repeating: Candidate(.loopback, route: .leaving), count: 20)
      _ = try await host.tcpFindings(candidates, port: full.number, within: .milliseconds(200))
      let task = loop.spawn {
        _ = try? await host.tcpFindings(candidates, port: full.number, probe: TCPProbe())
      }
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(1)))
      let used = 5 - allowance.free
      task.cancel()
      await task.value
      var calls = SocketCalls.system
      calls.connect = { _, _ throws(SystemError) in throw SystemError("connect", FaultCode(errno: EPERM)) }
      _ = try? await host.tcpFindings(candidates, port: full.number, probe: TCPProbe(calls: calls))
      return (used, allowance.free)
    }
    #expect(most == 5)
    #expect(left == 5)
  }
}
