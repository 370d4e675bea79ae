internal import ReachCore
internal import ReachIO

/// Lets one task at a time through, in the order in which they came.
///
/// Isolation: from tasks on the event loop.
final class Gate: Sendable {
  private struct State {
    var isTaken = false
    var waiting: [PendingWait] = []
  }

  private let loop: EventLoop
  private let state: LoopConfined<State>

  init(on loop: EventLoop) {
    self.loop = loop
    state = LoopConfined(State(), on: loop)
  }

  /// Calls `body` once all that came before have ended.
  func pass<Value>(_ body: () async -> Value) async -> Value {
    while !state.withState({ take(&$0) }) {
      _ = await loop.wait(until: .distantFuture) { wait in state.withState { $0.waiting.append(wait) } }
    }
    let value = await body()
    let next = state.withState { state -> PendingWait? in
      state.isTaken = false
      return state.waiting.isEmpty ? nil : state.waiting.removeFirst()
    }
    next?.finish(.ready([]))
    return value
  }

  private func take(_ state: inout State) -> Bool {
    defer { state.isTaken = true }
    return !state.isTaken
  }
}
