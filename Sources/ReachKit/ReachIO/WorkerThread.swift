internal import CReachLinux
internal import Glibc
internal import ReachCore

/// Threads beside the event loop, for what cannot be done without waiting or takes long: the disk, a large file.
public enum WorkerThread {
  /// Begins a thread, which ends with `body` and takes no signal. Throws what pthread_create(3) failed with.
  public static func begin(_ body: @escaping @Sendable () -> Void) throws(SystemError) {
    var thread = pthread_t()
    let start = unsafe Unmanaged.passRetained(ThreadBody(body)).toOpaque()
    let code = unsafe pthread_create(&thread, nil, runThread, start)
    guard code == 0 else {
      unsafe Unmanaged<ThreadBody>.fromOpaque(start).release()
      throw SystemError("pthread_create", FaultCode(errno: code))
    }
    pthread_detach(thread)
  }

  /// Lets every other thread go before the calling one (setpriority(2), which on Linux concerns this thread alone).
  public static func yieldToOthers() { _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19) }
}

extension EventLoop {
  /// Has `body` run on a thread that ends with it, and returns what it came to. The loop goes on meanwhile; cancellation
  /// is not heeded. Throws what pthread_create(3) failed with.
  ///
  /// Call it from a task on the loop, to which it comes back.
  public func offload<Value: Sendable>(
    _ body: @escaping @Sendable () -> Value
  ) async throws(SystemError) -> Value {
    let outcome: Result<Value, SystemError> = await withCheckedContinuation { continuation in
      do throws(SystemError) {
        try WorkerThread.begin { continuation.resume(returning: .success(body())) }
      } catch {
        continuation.resume(returning: .failure(error))
      }
    }
    return try outcome.get()
  }
}

private final class ThreadBody: Sendable {
  let body: @Sendable () -> Void
  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runThread(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  guard let argument = unsafe argument else { return nil }
  var all = sigset_t()
  unsafe sigfillset(&all)
  _ = unsafe pthread_sigmask(SIG_SETMASK, &all, nil)
  unsafe Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().body()
  return nil
}
