internal import CReachTestSupport
internal import Glibc
public import ReachIO

/// Runs an event loop on a thread of its own for the length of `body`, which runs on the loop.
///
/// `prepare` is called on that thread before the loop is made: what it does to the thread (such as entering a network
/// namespace) holds for every descriptor that is opened there.
///
/// With `isolatesDescriptors` the thread has a table of descriptors of its own: a program that another test starts at the
/// same moment then holds no copy of them, not even for the instant before it is executed.
public func withEventLoop<Value: Sendable>(
  clock: any LoopClock = SystemClock(), isolatesDescriptors: Bool = false,
  prepare: @escaping @Sendable () throws -> Void = {},
  _ body: @escaping @Sendable (EventLoop) async throws -> Value
) async throws -> Value {
  try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Value, any Error>) in
    let run: @Sendable () -> Void = {
      do {
        if isolatesDescriptors { try check("close_range", CReachTestSupport_unshare_descriptors()) }
        try prepare()
        let loop = try EventLoop(clock: clock)
        let box = ResultBox<Value>()
        loop.spawn {
          do { box.result = .success(try await body(loop)) } catch { box.result = .failure(error) }
          loop.stop()
        }
        loop.run()
        continuation.resume(with: box.result ?? .failure(LoopEndedEarly()))
      } catch {
        continuation.resume(throwing: error)
      }
    }
    pthread_detach(startThread(run))
  }
}

/// The loop was stopped before the body of `withEventLoop` had ended.
public struct LoopEndedEarly: Error {}

/// Written on the loop, read on the same thread after the loop has ended.
private final class ResultBox<Value: Sendable>: @unchecked Sendable {
  var result: Result<Value, any Error>?
}
