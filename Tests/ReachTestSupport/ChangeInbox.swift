internal import ReachCore
public import ReachIO
public import ReachNetlink

/// Lets a test on the loop wait for what a link monitor tells.
///
/// The kernel settles an interface's operating state a moment after the command that changes it has returned, so a test
/// waits for the state it stages: `try await inbox.until { monitor.finding(named: "veth0").state == .usable }`.
///
/// Isolation: on the loop.
public final class ChangeInbox: Sendable {
  private struct State {
    var changes: [NetworkChange] = []
    var waiter: CheckedContinuation<Void, Never>?
  }

  /// What was waited for did not come.
  public struct TimedOut: Error {}

  private let loop: EventLoop
  private let state: LoopConfined<State>

  /// An inbox for all that the monitor tells from now on.
  public init(_ monitor: LinkMonitor, on loop: EventLoop) {
    self.loop = loop
    state = LoopConfined(State(), on: loop)
    monitor.onChange { [self] change in
      state.withState { $0.changes.append(change) }
      wake()
    }
  }

  /// What has been told since `clear()`.
  public var changes: [NetworkChange] { state.withState { $0.changes } }
  /// Of what kinds that was.
  public var kinds: NetworkChange.Kinds { changes.reduce(into: []) { $0.formUnion($1.kinds) } }

  /// Forgets what has been told.
  public func clear() { state.withState { $0.changes.removeAll() } }

  /// Waits until `holds` does, which is asked again after each change; throws when half a minute passes without it.
  public func until(_ holds: () -> Bool) async throws {
    let deadline = loop.now().advanced(by: .seconds(30))
    let timer = loop.schedule(at: deadline) { self.wake() }
    defer { loop.cancel(timer) }
    while !holds() {
      guard loop.now() < deadline else { throw TimedOut() }
      await withCheckedContinuation { continuation in state.withState { $0.waiter = continuation } }
    }
  }

  private func wake() {
    let waiter = state.withState { state in
      defer { state.waiter = nil }
      return state.waiter
    }
    waiter?.resume()
  }
}
