internal import CReachLinux
internal import Glibc

/// Signals as events of the loop (signalfd(2)).
///
/// The signals are blocked in the calling thread for good, so make this before any other thread begins; they then reach
/// the handler and nothing else.
public final class SignalWatch: Sendable {
  private let descriptor: Descriptor

  /// Blocks `signals` and calls `handler` on the loop with the number of each that arrives. Throws what signalfd(2) or
  /// epoll_ctl(2) failed with.
  public init(
    _ signals: [Int32], on loop: EventLoop, _ handler: @escaping @Sendable (Int32) -> Void
  ) throws(SystemError) {
    var set = Self.blocked(signals)
    descriptor = Descriptor(
      owning: try retryingInterrupts("signalfd") { unsafe signalfd(-1, &set, Int32(SFD_CLOEXEC | SFD_NONBLOCK)) })
    let number = descriptor.number
    _ = try loop.watch(number, for: .readable) { _ in
      var information = signalfd_siginfo()
      let size = MemoryLayout<signalfd_siginfo>.size
      while unsafe read(number, &information, size) == size { handler(Int32(bitPattern: information.ssi_signo)) }
    }
  }

  /// Blocks `signals` in the calling thread. One that arrives from now on waits for the watch: call this first thing, or
  /// a signal that comes during start-up ends the process.
  public static func block(_ signals: [Int32]) { _ = blocked(signals) }

  private static func blocked(_ signals: [Int32]) -> sigset_t {
    var set = sigset_t()
    unsafe sigemptyset(&set)
    for signal in signals { unsafe sigaddset(&set, signal) }
    unsafe pthread_sigmask(SIG_BLOCK, &set, nil)
    return set
  }

  /// Has the kernel forget every child of this process as it ends, whoever started it: none becomes a zombie, and nobody
  /// learns its exit status (SIGCHLD ignored, wait(2)).
  public static func forgetEndedChildren() {
    _ = signal(SIGCHLD, SIG_IGN)
    // Those that ended before.
    while waitpid(-1, nil, WNOHANG) > 0 {}
  }

  /// Lets the process ignore SIGPIPE: a peer that hangs up then shows as EPIPE of the write.
  public static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }
}
