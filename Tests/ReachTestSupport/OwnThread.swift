internal import Glibc

/// Runs `body` on a thread that ends with it, and waits for it: whatever it does to its thread is gone afterwards.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) -> Value? {
  let box = ValueBox<Value>()
  pthread_join(startThread { box.value = body() }, nil)
  return box.value
}

/// Begins a thread, to be joined or detached.
func startThread(_ run: @escaping @Sendable () -> Void) -> pthread_t {
  var thread = pthread_t()
  let start = unsafe Unmanaged.passRetained(ThreadStart(run)).toOpaque()
  let code = unsafe pthread_create(
    &thread, nil,
    { argument in
      if let argument = unsafe argument { unsafe Unmanaged<ThreadStart>.fromOpaque(argument).takeRetainedValue().run() }
      return nil
    }, start)
  precondition(code == 0, "pthread_create failed with \(code)")
  return thread
}

/// Written on the thread, read once it has been joined.
private final class ValueBox<Value: Sendable>: @unchecked Sendable {
  var value: Value?
}

private final class ThreadStart {
  let run: @Sendable () -> Void
  init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}
