/// Mutable state that belongs to one event loop's thread.
///
/// The state may be held by sendable values and reached from any code that runs on the loop, without a lock. Reaching
/// for it from another thread, or again while it is already being changed, is a mistake in our own code and traps.
///
/// Sendable unchecked: `withState` is the only way to the state, and it checks the thread.
public final class LoopConfined<State>: @unchecked Sendable {
  @usableFromInline let loop: EventLoop
  @usableFromInline var state: State

  /// State that only code on `loop` may touch, once the loop runs.
  public init(_ state: sending State, on loop: EventLoop) {
    self.state = state
    self.loop = loop
  }

  /// Gives the state to `body` for the length of the call.
  @inlinable
  public func withState<Result: ~Copyable, Failure: Error>(
    _ body: (inout State) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    loop.assertConfined()
    return try body(&state)
  }
}

extension EventLoop {
  /// Traps when the loop runs and the caller is not on its thread: a mistake in our own code.
  public func assertConfined() { precondition(isCurrent || !isRunning, "loop-confined state touched off its loop") }
}
