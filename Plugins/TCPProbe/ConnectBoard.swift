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

    mutating func settle(_ place: Int, _ finding: TCPFinding) {
      findings[place] = finding
      watches[place] = nil
      remaining -= 1
      if remaining == 0 { wait?.finish(.ready([])) }
    }
  }

  private let state: LoopConfined<State>
  private let loop: EventLoop

  init(_ attempts: [ConnectAttempt], loop: EventLoop) {
    self.loop = loop
    state = LoopConfined(
      State(
        attempts: attempts, watches: Array(repeating: nil, count: attempts.count),
        findings: Array(repeating: nil, count: attempts.count), remaining: attempts.count), on: loop)
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
      state.wait = nil
    }
  }

  private func look(at place: Int) {
    state.withState { state in
      guard state.findings[place] == nil, let finding = state.attempts[place].examine() else { return }
      // The socket is closed: the kernel has dropped its own entry.
      if let watch = state.watches[place] { loop.forget(watch) }
      state.settle(place, finding)
    }
  }
}
