import ReachCore
import ReachIO
import ReachNetlink
import ReachProbe
import ReachScheduler
import Synchronization

/// A backend that answers as its script says and keeps what it was asked.
final class ScriptedBackend: ProbeBackend {
  typealias Script = @Sendable (Target, ProbeContext) async throws(LocalFault) -> Evidence

  private let script: Script
  private let seen = Mutex<[[Candidate]]>([])

  init(_ script: @escaping Script) { self.script = script }

  /// The candidates of each call.
  var calls: [[Candidate]] { seen.withLock { $0 } }

  func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    seen.withLock { $0.append(context.candidates) }
    return try await script(target, context)
  }
}

extension ScriptedBackend {
  /// Routes every candidate with this finding.
  static func route(_ finding: RouteFinding = RouteFinding(.unicast, interfaceIndex: 2, interface: "eth0"))
    -> ScriptedBackend
  {
    ScriptedBackend { (_, context) throws(LocalFault) in .route(context.candidates.map { _ in finding }) }
  }

  /// Finds every candidate's link in this state.
  static func link(_ state: LinkFinding.State = .usable) -> ScriptedBackend {
    ScriptedBackend { (_, context) throws(LocalFault) in
      .link(context.candidates.map { _ in LinkFinding(interface: "eth0", index: 2, medium: .wired, state: state) })
    }
  }

  /// Connects to every candidate with this result.
  static func tcp(_ result: TCPFinding.Result = .open, duration: Duration = .microseconds(70)) -> ScriptedBackend {
    ScriptedBackend { (_, context) throws(LocalFault) in
      .tcp(context.candidates.map { _ in TCPFinding(result, rtt: duration, duration: duration) })
    }
  }

  /// Resolves to this.
  static func dns(_ finding: DNSFinding) -> ScriptedBackend {
    ScriptedBackend { (_, _) throws(LocalFault) in .dns(finding) }
  }

  /// Fails with this.
  static func failing(_ fault: LocalFault) -> ScriptedBackend {
    ScriptedBackend { (_, _) throws(LocalFault) in throw fault }
  }

  /// Does not come back before `end` has begun, whatever happens to its task.
  static func stuck(until end: Gate) -> ScriptedBackend {
    ScriptedBackend { (_, context) throws(LocalFault) in
      await end.wait()
      return .tcp(context.candidates.map { _ in TCPFinding(.open) })
    }
  }
}

/// Opens once, for all who wait; deaf to cancellation.
final class Gate: Sendable {
  private struct State {
    var isOpen = false
    var waiting: [CheckedContinuation<Void, Never>] = []
  }

  private let state = Mutex(State())

  func wait() async {
    await withCheckedContinuation { continuation in
      let isOpen = state.withLock { state in
        if !state.isOpen { state.waiting.append(continuation) }
        return state.isOpen
      }
      if isOpen { continuation.resume() }
    }
  }

  func open() {
    let waiting = state.withLock { state in
      state.isOpen = true
      defer { state.waiting = [] }
      return state.waiting
    }
    for continuation in waiting { continuation.resume() }
  }
}

/// A host whose kernel tables no scripted backend looks at.
func testHost(on loop: EventLoop) throws -> ProbeHost {
  let session = try NetlinkSession(loop: loop)
  return ProbeHost(
    loop: loop, links: try LinkMonitor(loop: loop, session: session), netlink: session,
    defaultPath: [IPAddress(ipv4: 0x0909_0909), IPAddress(ipv4: 0xcb00_7101)])
}

extension PlannedProbe {
  static func link(_ backend: ScriptedBackend?) -> PlannedProbe {
    PlannedProbe(name: "link", layer: .link, backend: backend)
  }
  static func route(_ backend: ScriptedBackend?) -> PlannedProbe {
    PlannedProbe(name: "route", layer: .route, backend: backend)
  }
  static func dns(_ backend: ScriptedBackend?) -> PlannedProbe {
    PlannedProbe(name: "dns", layer: .dns, backend: backend)
  }
  static func tcp(_ backend: ScriptedBackend?, timeout: Duration? = nil) -> PlannedProbe {
    PlannedProbe(name: "tcp", layer: .tcp, backend: backend, timeout: timeout)
  }
}

extension Target {
  static let web = Target(name: "web:443", kind: .address(IPAddress(ipv4: 0xc000_0201)), port: 443)
  static let named = Target(
    name: "example.com:443", kind: .host(HostName(query: "example.com", display: "example.com")), port: 443)
}
