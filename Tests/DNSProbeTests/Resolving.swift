import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport
import Synchronization

@testable import DNSProbe

/// Keeps what a probe says.
final class NoteKeeper: ProbeLog {
  private let kept = Mutex<[String]>([])
  func note(_ line: String) { kept.withLock { $0.append(line) } }
  var lines: [String] { kept.withLock { $0 } }
}

extension FakeNameServer {
  /// Where it listens.
  var endpoint: Nameserver { Nameserver(address: address, port: port) }
}

/// Options that name one server. The slower family gets all the time it may want, however busy the machine is.
func options(
  _ servers: Nameserver..., families: [IPAddress.Family] = [.ipv6, .ipv4],
  _ change: (inout DNSOptions) -> Void = { _ in }
) -> DNSOptions {
  var options = DNSOptions()
  options.servers = servers
  options.families = families
  options.usesCache = false
  options.leastGrace = .seconds(60)
  change(&options)
  return options
}

extension Resolver {
  /// Resolves with the defaults, by a deadline that is this far away.
  func resolve(
    _ name: String = "www.example.test", within timeout: Duration = .seconds(20), on loop: EventLoop,
    policy: TargetPolicy = TargetPolicy(), source: SourceBinding = SourceBinding(), log: (any ProbeLog)? = nil
  ) async -> DNSFinding {
    await resolve(name, policy: policy, source: source, deadline: loop.now().advanced(by: timeout), log: log)
  }
}

/// Resolves once against a server that behaves so. Returns the finding and the queries it took.
func resolveOnce(
  families: [IPAddress.Family] = [.ipv6, .ipv4], within timeout: Duration = .seconds(20), listensToTCP: Bool = true,
  _ change: @escaping @Sendable (inout DNSOptions) -> Void = { _ in },
  _ behaviour: @escaping @Sendable (FakeNameServer.Query) -> FakeNameServer.Action
) async throws -> (finding: DNSFinding, queries: [FakeNameServer.Query]) {
  try await withEventLoop { loop in
    let server = try FakeNameServer(loop, listensToTCP: listensToTCP, behaviour)
    defer { server.stop() }
    let resolver = Resolver(options: options(server.endpoint, families: families, change), loop: loop)
    return (await resolver.resolve(within: timeout, on: loop), server.queries)
  }
}
