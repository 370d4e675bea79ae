internal import ReachCore
internal import ReachIO

/// Has the library run in the loop's next turn, once for all who ask for it in this one.
///
/// Isolation: on the event loop.
final class LibraryRunner: Sendable {
  private struct State {
    var run: (@Sendable () -> Void)?
    var isDue = false
  }

  private let loop: EventLoop
  private let state: LoopConfined<State>

  init(on loop: EventLoop) {
    self.loop = loop
    state = LoopConfined(State(), on: loop)
  }

  /// Says how the library is made to run.
  func onRun(_ run: @escaping @Sendable () -> Void) { state.withState { $0.run = run } }

  /// Has it run.
  func runSoon() {
    state.withState { state in
      guard !state.isDue else { return }
      state.isDue = true
      loop.schedule(at: loop.now()) { [weak self] in self?.runNow() }
    }
  }

  private func runNow() {
    let run = state.withState { state in
      state.isDue = false
      return state.run
    }
    run?()
  }
}
