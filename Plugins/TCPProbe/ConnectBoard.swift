internal import ReachCore
internal import ReachIO

/// The connections of one wave that the loop waits for together.
struct ConnectBoard: Sendable {
  private struct State {
    var attempts: [ConnectAttempt]
    var watches: [EventLoop.Watch?]
    var findings: [TCPFinding?]
    var remaining: Int
    var wait: PendingWait?
    /// Set once an address is open: the rest is not waited for any longer than this.
    var patience: TimerID?
    var isAnyOpen: Bool

    mutating func settle(_ place: Int, _ finding: TCPFinding) {
      findings[place] = finding
      watches[place] = nil
      remaining -= 1
      if finding.result == .open { isAnyOpen = true }
      if remaining == 0 { wait?.finish(.ready([])) }
    }
  }

  private let state: LoopConfined<State>
  private let loop: EventLoop
  private let enough: Instant?

  /// A board; `enough` is when the wait ends as soon as an address is open, nil for not before all have ended.
  init(_ attempts: [ConnectAttempt], enough: Instant?, isAnyOpen: Bool, loop: EventLoop) {
    self.loop = loop
    self.enough = enough
    state = LoopConfined(
      State(
        attempts: attempts, watches: Array(repeating: nil, count: attempts.count),
        findings: Array(repeating: nil, count: attempts.count), remaining: attempts.count,
        isAnyOpen: isAnyOpen), on: loop)
  }

  /// Watches all sockets; `wait` is finished when the last of them has come to its end.
  func watch(endingWith wait: PendingWait) {
    state.withState { state in
      state.wait = wait
      for (place, attempt) in state.attempts.enumerated() {
        do throws(SystemError) {
          state.watches[place] = try loop.watch(attempt.socket.number, for: .writable) { _ in self.look(at: place) }
        } catch {
          attempt.abandon()
          state.settle(place, TCPFinding(.fault(error.code)))
        }
      }
      limit(&state)
    }
  }

  /// Ends what has not ended, and hands over what was found.
  func end(_ outcome: WaitOutcome, isLate: Bool, into findings: inout [TCPFinding]) {
    state.withState { state in
      for (place, attempt) in state.attempts.enumerated() {
        if state.findings[place] == nil {
          if let watch = state.watches[place] { loop.forget(watch) }
          if outcome == .cancelled {
            attempt.abandon()
            continue
          }
          state.findings[place] = attempt.finish(isLate: isLate)
        }
        if let finding = state.findings[place] { findings[attempt.index] = finding }
      }
      if let patience = state.patience { loop.cancel(patience) }
      state.wait = nil
    }
  }

  private func look(at place: Int) {
    state.withState { state in
      guard state.findings[place] == nil, let finding = state.attempts[place].examine() else { return }
      // The socket is closed: the kernel has dropped its own entry.
      if let watch = state.watches[place] { loop.forget(watch) }
      state.settle(place, finding)
      limit(&state)
    }
  }

  /// Sees to it that addresses which do not answer beside one that is open take their share of the time and no more.
  private func limit(_ state: inout State) {
    guard let enough, state.isAnyOpen, state.remaining > 0, state.patience == nil, let wait = state.wait else { return }
    state.patience = loop.schedule(at: enough) { wait.finish(.deadline) }
  }
}
