public import ReachCore

/// How a wait on the loop ended.
public enum WaitOutcome: Hashable, Sendable {
  /// The descriptor is ready for this.
  case ready(Readiness)
  /// The deadline passed first.
  case deadline
  /// The task was cancelled first.
  case cancelled
}

extension EventLoop {
  /// Suspends until `due`. Returns early, with `.cancelled`, when the task is cancelled.
  ///
  /// Call it from a task on this loop.
  @discardableResult
  public func sleep(until due: Instant) async -> WaitOutcome { await wait(until: due) { _ in } }

  /// Suspends until the descriptor is ready for any of `interest`, in error or shut, or the deadline passes.
  ///
  /// Call it from a task on this loop. Throws what epoll_ctl(2) failed with, before suspending.
  public func wait(
    on descriptor: Int32, for interest: Readiness, until deadline: Instant
  ) async throws(SystemError) -> WaitOutcome {
    let wait = PendingWait(loop: self)
    let watch = try watch(descriptor, for: interest) { wait.finish(.ready($0)) }
    let outcome = await wait.run(until: deadline)
    unwatch(watch)
    return outcome
  }

  /// Suspends until somebody on the loop finishes the wait, the deadline passes or the task is cancelled.
  ///
  /// `begin` is called before suspending, with the wait to hand to whatever will finish it: the handler of a watch, the
  /// callback of a library. One that finishes it at once costs no suspension. Call it from a task on this loop.
  public func wait(until deadline: Instant, _ begin: (PendingWait) -> Void) async -> WaitOutcome {
    let wait = PendingWait(loop: self)
    begin(wait)
    return await wait.run(until: deadline)
  }
}

/// One suspension of a task on a loop, for code on that loop to end.
///
/// Touched on the loop alone; a cancellation from elsewhere is brought there first. That is why it is Sendable, unchecked.
@safe
public final class PendingWait: @unchecked Sendable {
  private let loop: EventLoop
  private var timer: TimerID?
  private var continuation: UnsafeContinuation<WaitOutcome, Never>?
  private var outcome: WaitOutcome?

  fileprivate init(loop: EventLoop) { self.loop = loop }

  /// Ends the wait with this outcome. The first outcome counts, later ones are ignored. Call it on the loop.
  public func finish(_ result: WaitOutcome) {
    guard outcome == nil else { return }
    outcome = result
    if let timer { loop.cancel(timer) }
    timer = nil
    guard let waiting = unsafe continuation else { return }
    unsafe continuation = nil
    unsafe waiting.resume(returning: result)
  }

  fileprivate func run(until deadline: Instant) async -> WaitOutcome {
    if let outcome { return outcome }
    return await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        if let outcome { return unsafe continuation.resume(returning: outcome) }
        unsafe self.continuation = continuation
        if deadline != .distantFuture { timer = loop.schedule(at: deadline) { self.finish(.deadline) } }
      }
    } onCancel: {
      if loop.isCurrent { finish(.cancelled) } else { loop.spawn { self.finish(.cancelled) } }
    }
  }
}
