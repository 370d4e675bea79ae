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
  public func sleep(until due: Instant) async -> WaitOutcome {
    let wait = PendingWait(loop: self)
    return await wait.run { wait in wait.timer = self.schedule(at: due) { wait.finish(.deadline) } }
  }

  /// Suspends until the descriptor is ready for any of `interest`, in error or shut, or the deadline passes.
  ///
  /// Call it from a task on this loop. Throws what epoll_ctl(2) failed with, before suspending.
  public func wait(
    on descriptor: Int32, for interest: Readiness, until deadline: Instant
  ) async throws(SystemError) -> WaitOutcome {
    let wait = PendingWait(loop: self)
    wait.watch = try watch(descriptor, for: interest) { wait.finish(.ready($0)) }
    return await wait.run { wait in wait.timer = self.schedule(at: deadline) { wait.finish(.deadline) } }
  }
}

/// One suspended wait. Touched on the loop alone; cancellation from elsewhere is brought there first.
@safe
private final class PendingWait: @unchecked Sendable {
  let loop: EventLoop
  var timer: TimerID?
  var watch: EventLoop.Watch?
  private var continuation: UnsafeContinuation<WaitOutcome, Never>?
  private var outcome: WaitOutcome?

  init(loop: EventLoop) { self.loop = loop }

  func run(_ arm: (PendingWait) -> Void) async -> WaitOutcome {
    await withTaskCancellationHandler {
      unsafe await withUnsafeContinuation { continuation in
        if let outcome {
          unsafe continuation.resume(returning: outcome)
        } else {
          unsafe self.continuation = continuation
          arm(self)
        }
      }
    } onCancel: {
      if loop.isCurrent { finish(.cancelled) } else { loop.spawn { self.finish(.cancelled) } }
    }
  }

  func finish(_ result: WaitOutcome) {
    guard outcome == nil else { return }
    outcome = result
    if let timer { loop.cancel(timer) }
    if let watch { loop.unwatch(watch) }
    timer = nil
    watch = nil
    guard let waiting = unsafe continuation else { return }
    unsafe continuation = nil
    unsafe waiting.resume(returning: result)
  }
}
