import ReachBlackbox
import ReachConfig
import ReachCore
import ReachIO
import ReachProbe
import ReachTestSupport

/// A server on loopback that talks to one client at a time: what it hears is handed to the test, what it says is told it.
///
/// Isolation: on its event loop.
struct Talker {
  let port: TestPort
  let loop: EventLoop

  init(on loop: EventLoop, at address: IPAddress = .loopback) throws {
    self.loop = loop
    port = try TestPort(.open, on: address)
  }

  var target: String {
    port.address.family == .ipv6 ? "[\(port.address)]:\(port.number)" : "\(port.address):\(port.number)"
  }

  /// Takes the next client and gives it to `body`; its connection ends with that.
  func serve(_ body: @escaping @Sendable (Client) async throws -> Void) {
    loop.spawn {
      do {
        let socket = try await port.acceptNext(on: loop)
        let client = Client(socket: socket, loop: loop)
        try? await body(client)
        socket.close()
      } catch {}
    }
  }

  struct Client: Sendable {
    let socket: Socket
    let loop: EventLoop

    func say(_ text: String) async throws { _ = try socket.send(Array(text.utf8)) }

    /// All that comes until this text has; or until the end.
    func hear(until end: String) async throws -> String {
      var heard: [UInt8] = []
      while !String(decoding: heard, as: UTF8.self).hasSuffix(end) {
        if let octets = try socket.receive(upTo: 4096) {
          if octets.isEmpty { break }
          heard += octets
        } else {
          _ = try await loop.wait(on: socket.number, for: .readable, until: loop.now().advanced(by: .seconds(20)))
        }
      }
      return String(decoding: heard, as: UTF8.self)
    }
  }
}

/// What a probe came to.
struct Probed: Sendable {
  let outcome: ModuleProbe.Outcome
  let metrics: ProbeMetrics
  let log: String
}

/// Probes a target by a module, with everything allowed.
func probe(
  _ target: String, by module: TCPModule, within timeout: Duration = .seconds(10), on loop: EventLoop,
  resolver: (any ProbeBackend)? = nil, allow: [String] = ["*", "127.0.0.0/8", "::1"]
) async throws -> Probed {
  let host = try ProbeHost.onThisLoop(loop)
  let log = ProbeLogbook(module: "m", target: target)
  let parsed = try Target(probing: target, policy: TargetPolicy())
  let allowance = ProbeAllowance(rules: try allow.map { try AllowRule(parsing: $0) }, declared: [Target]())
  let probe = ModuleProbe(
    of: parsed, by: loop.now().advanced(by: timeout), on: host, resolver: resolver, allowance: allowance,
    grant: try allowance.grant(parsed, port: parsed.port), log: log)
  var metrics = ProbeMetrics()
  let outcome = await probe.run(module, into: &metrics)
  return Probed(outcome: outcome, metrics: metrics, log: log.text)
}
