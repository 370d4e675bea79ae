import Glibc
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Testing

@testable import DNSProbe

/// What happens where there are fewer sockets than name servers.
@Suite(.timeLimit(.minutes(4))) struct SocketBoundTests {
  private static let address: IPAddress = "192.0.2.1"

  private static func resolver(
    _ server: FakeNameServer, _ sockets: SocketAllowance, on loop: EventLoop
  ) -> Resolver {
    Resolver(options: options(server.endpoint, families: [.ipv4]), loop: loop, sockets: sockets)
  }

  @Test("twenty servers share two sockets: the idle ones make room, and every name is resolved")
  func sharing() async throws {
    let findings = try await withEventLoop { loop in
      let sockets = SocketAllowance(2, on: loop)
      let servers = try (0..<20).map { _ in try FakeNameServer(loop) { .reply($0.addresses([Self.address])) } }
      defer { for server in servers { server.stop() } }
      let resolvers = servers.map { Self.resolver($0, sockets, on: loop) }
      return await withTaskGroup(of: DNSFinding.self) { group in
        for resolver in resolvers { group.addTask(executorPreference: loop) { await resolver.resolve(on: loop) } }
        return await group.reduce(into: []) { $0.append($1) }
      }
    }
    #expect(findings.count == 20)
    #expect(findings.allSatisfy { $0.result == .resolved && $0.addresses == [Self.address] })
  }

  @Test("a query waits for the socket that a silent server holds, and goes out when it is given back")
  func waiting() async throws {
    let (silent, other, free) = try await withEventLoop { loop in
      let sockets = SocketAllowance(1, on: loop)
      let quiet = try FakeNameServer(loop) { _ in .silence }
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer {
        quiet.stop()
        server.stop()
      }
      let first = Self.resolver(quiet, sockets, on: loop)
      let second = Self.resolver(server, sockets, on: loop)
      async let silent = first.resolve(within: .milliseconds(300), on: loop)
      async let other = second.resolve(on: loop)
      let findings = await (silent, other)
      return (findings.0, findings.1, sockets.free)
    }
    #expect(silent.result == .failed(.dnsTimeout))
    #expect(other.result == .resolved)
    #expect(free == 0)
  }

  @Test("without a socket nobody is asked, so nobody has failed: the fault is this host's, and says what would help")
  func none() async throws {
    let (finding, queries) = try await withEventLoop { loop in
      let sockets = SocketAllowance(1, on: loop)
      let taken = sockets.take(upTo: 1)
      let server = try FakeNameServer(loop) { .reply($0.addresses([Self.address])) }
      defer { server.stop() }
      let resolver = Self.resolver(server, sockets, on: loop)
      let finding = await resolver.resolve(within: .milliseconds(100), on: loop)
      sockets.giveBack(taken)
      return (finding, server.queries.count)
    }
    guard case .fault(let fault) = finding.result else {
      Issue.record("the result is \(finding.result)")
      return
    }
    #expect(fault.reason == .probeError(FaultCode(errno: EMFILE)))
    #expect(fault.remedy.contains("LimitNOFILE="))
    #expect(queries == 0)
  }

  @Test("a thousand silent rounds keep to the allowance and give everything back")
  func silence() async throws {
    let (least, left, jobs) = try await withEventLoop { loop in
      let sockets = SocketAllowance(4, on: loop)
      let server = try FakeNameServer(loop) { _ in .silence }
      defer { server.stop() }
      let least = LoopConfined(4, on: loop)
      let jobs: Int = await {
        let resolver = Self.resolver(server, sockets, on: loop)
        for round in 0..<10 {
          await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
              group.addTask(executorPreference: loop) {
                let name = "n\(round)-\(number).test"
                _ = await resolver.resolve(name, within: .milliseconds(Int64(60 + number % 7 * 30)), on: loop)
                least.withState { $0 = min($0, sockets.free) }
              }
            }
          }
        }
        return resolver.jobCount
      }()
      await loop.settle()
      return (least.withState { $0 }, sockets.free, jobs)
    }
    #expect(least >= 0)
    #expect(left == 4)
    #expect(jobs == 0)
  }
}
