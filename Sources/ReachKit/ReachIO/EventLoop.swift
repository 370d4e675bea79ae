internal import CReachLinux
internal import Glibc
public import ReachCore
internal import Synchronization

/// One thread on which everything happens: descriptors (epoll(7)), timers and Swift's own jobs.
///
/// The loop is a serial executor, so actors may live on it, and a task executor, so that an async function begun with
/// `spawn` stays on it from `await` to `await`. Nothing that runs here may block.
///
/// Isolation: `enqueue`, `spawn`, `stop`, `now` and `isCurrent` may be called from anywhere; every other
/// method only on the loop's thread, or before `run()` has begun. That is what makes the class Sendable, unchecked: its
/// mutable state is touched by one thread, apart from the inbox, which has a lock.
public final class EventLoop: SerialExecutor, TaskExecutor, @unchecked Sendable {
  /// Called on the loop with what a watched descriptor is ready for.
  public typealias ReadinessHandler = @Sendable (Readiness) -> Void

  /// Names one watched descriptor. It is never given again, so an event that comes late for a descriptor number that
  /// has been reused is dropped.
  public struct Watch: Hashable, Sendable {
    let slot: UInt32
    let generation: UInt32
    var bits: UInt64 { UInt64(generation) << 32 | UInt64(slot) }
  }

  private struct WatchSlot {
    var generation: UInt32 = 0
    var descriptor: Int32 = -1
    var handler: ReadinessHandler?
  }

  private struct Inbox {
    var jobs: [UnownedJob] = []
    var signalled = false
  }

  /// The clock that timers and deadlines follow.
  public let clock: any LoopClock

  private let epoll: Descriptor
  private let wakeup: Descriptor
  private let inbox = Mutex(Inbox())
  private let stopping = Atomic(false)
  private let thread = Atomic<UInt>(0)

  private var timers = TimerHeap()
  private var watches: [WatchSlot] = []
  private var freeWatches: [UInt32] = []
  private var ready: [UnownedJob] = []
  private var running: [UnownedJob] = []
  private var turn: UInt64 = 0
  private var idlers: [PendingWait] = []

  private static let wakeupBits = UInt64.max
  private static let eventCapacity = 256

  /// A loop that waits for `run()`. Throws what epoll_create1(2) or eventfd(2) failed with, `EMFILE` mostly.
  public init(clock: any LoopClock = SystemClock()) throws(SystemError) {
    self.clock = clock
    epoll = Descriptor(owning: try retryingInterrupts("epoll_create1") { epoll_create1(Int32(EPOLL_CLOEXEC)) })
    wakeup = Descriptor(
      owning: try retryingInterrupts("eventfd") { eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)) })
    let code = CReachLinux_epoll_ctl(
      epoll.number, EPOLL_CTL_ADD, wakeup.number, Readiness.readable.rawValue, Self.wakeupBits)
    if code != 0 { throw SystemError("epoll_ctl", FaultCode(errno: code)) }
    clock.onMove { [weak self] in self?.signal() }
  }

  /// The time on the loop's clock.
  public func now() -> Instant { clock.now() }

  /// Whether the caller is on the loop's thread.
  public var isCurrent: Bool { thread.load(ordering: .relaxed) == UInt(pthread_self()) }

  /// Whether `run()` is under way.
  public var isRunning: Bool { thread.load(ordering: .relaxed) != 0 }

  /// How often the loop has come round: it grows while the loop is healthy. Read it on the loop.
  public var turns: UInt64 { turn }

  // MARK: Running

  /// Runs on the calling thread until `stop()`. Call it once.
  public func run() {
    thread.store(UInt(pthread_self()), ordering: .sequentiallyConsistent)
    defer { thread.store(0, ordering: .sequentiallyConsistent) }
    let events = UnsafeMutableBufferPointer<epoll_event>.allocate(capacity: Self.eventCapacity)
    defer { unsafe events.deallocate() }
    collectInbox()
    while !stopping.load(ordering: .relaxed) {
      turn &+= 1
      fireTimers()
      runJobs()
      let count = unsafe CReachLinux_epoll_wait_ns(
        epoll.number, events.baseAddress, Int32(Self.eventCapacity), waitNanoseconds())
      for index in 0..<max(0, Int(count)) {
        let bits = unsafe CReachLinux_epoll_data(events.baseAddress.unsafelyUnwrapped + index)
        dispatch(bits, Readiness(rawValue: unsafe events[index].events))
      }
      if count == 0, !idlers.isEmpty, isIdle { resumeIdlers() }
    }
  }

  /// Makes `run()` return at its next turn. Jobs and timers that wait are not run.
  public func stop() {
    stopping.store(true, ordering: .relaxed)
    signal()
  }

  /// Runs what is ready, and what that makes ready in turn, but not for ever: the kernel is asked again after a while.
  private func runJobs() {
    var passes = 0
    while !ready.isEmpty, passes < 16 {
      passes += 1
      swap(&ready, &running)
      for job in running {
        unsafe job.runSynchronously(isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
      }
      running.removeAll(keepingCapacity: true)
    }
  }

  /// Calls the timers that are due. One that is set meanwhile waits for the next turn even when it is due at once, or
  /// a handler that sets itself again would keep the loop from everything else.
  private func fireTimers() {
    guard let first = timers.next else { return }
    let now = clock.now()
    guard first <= now else { return }
    let newest = timers.newest
    while let handler = timers.popDue(at: now, setUpTo: newest) { handler() }
  }

  private func waitNanoseconds() -> Int64 {
    if !ready.isEmpty || !idlers.isEmpty { return 0 }
    guard let next = timers.next else { return -1 }
    return clock.sleepLimit(until: next)
  }

  // MARK: Idleness

  /// Suspends until the loop has nothing else to do: no job, no timer that is due, no descriptor that is ready.
  ///
  /// For tests and simulations: what was set going has then gone as far as it can before time or the world moves.
  /// Call it from a task on this loop.
  public func settle() async { _ = await wait(until: .distantFuture) { idlers.append($0) } }

  private var isIdle: Bool {
    guard ready.isEmpty else { return false }
    guard let next = timers.next else { return true }
    return next > clock.now()
  }

  private func resumeIdlers() {
    let waiting = idlers
    idlers.removeAll()
    for wait in waiting { wait.finish(.ready([])) }
  }

  private func dispatch(_ bits: UInt64, _ readiness: Readiness) {
    if bits == Self.wakeupBits { return collectInbox() }
    let slot = Int(bits & 0xffff_ffff)
    guard slot < watches.count, watches[slot].generation == UInt32(bits >> 32) else { return }
    watches[slot].handler?(readiness)
  }

  // MARK: Jobs

  /// Takes a job of Swift's runtime. From the loop's own thread it costs an append, from another a lock and a wake-up.
  public func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    if isCurrent { return ready.append(job) }
    let mustSignal = inbox.withLock { inbox in
      inbox.jobs.append(job)
      defer { inbox.signalled = true }
      return !inbox.signalled
    }
    if mustSignal { signal() }
  }

  /// Whether the caller runs on this executor.
  public func isIsolatingCurrentContext() -> Bool? { isCurrent }

  /// Traps when the caller is not on the loop: a mistake in our own code.
  public func checkIsolated() { precondition(isCurrent, "called off the event loop") }

  /// Begins an async function on the loop, as a task of its own that keeps to the loop.
  @discardableResult
  public func spawn(_ operation: sending @escaping @isolated(any) () async -> Void) -> Task<Void, Never> {
    Task(executorPreference: self, operation: operation)
  }

  private func signal() {
    var one: UInt64 = 1
    _ = unsafe write(wakeup.number, &one, 8)
  }

  private func collectInbox() {
    var count: UInt64 = 0
    _ = unsafe read(wakeup.number, &count, 8)
    inbox.withLock { inbox in
      ready.append(contentsOf: inbox.jobs)
      inbox.jobs.removeAll(keepingCapacity: true)
      inbox.signalled = false
    }
  }

  // MARK: Timers

  /// Calls `handler` on the loop at `due`, or as soon after as the loop comes round; at once when that has passed.
  @discardableResult
  public func schedule(at due: Instant, _ handler: @escaping @Sendable () -> Void) -> TimerID {
    assert(isCurrent || !isRunning, "timer set off the event loop")
    return timers.schedule(at: due, handler)
  }

  /// Takes a timer back. Returns false when it has fired or was taken back before.
  @discardableResult
  public func cancel(_ timer: TimerID) -> Bool { timers.cancel(timer) }

  /// How many timers wait.
  public var pendingTimers: Int { timers.count }

  /// When the next timer is due; nil when none waits.
  public var nextTimer: Instant? { timers.next }

  // MARK: Descriptors

  /// Watches an open descriptor, level-triggered unless asked otherwise. Throws what epoll_ctl(2) failed with.
  public func watch(
    _ descriptor: Int32, for interest: Readiness, _ handler: @escaping ReadinessHandler
  ) throws(SystemError) -> Watch {
    assert(isCurrent || !isRunning, "descriptor watched off the event loop")
    let slot: UInt32
    if let reused = freeWatches.popLast() {
      slot = reused
    } else {
      slot = UInt32(watches.count)
      watches.append(WatchSlot())
    }
    let watch = Watch(slot: slot, generation: watches[Int(slot)].generation)
    let code = CReachLinux_epoll_ctl(epoll.number, EPOLL_CTL_ADD, descriptor, interest.rawValue, watch.bits)
    guard code == 0 else {
      freeWatches.append(slot)
      throw SystemError("epoll_ctl", FaultCode(errno: code))
    }
    watches[Int(slot)].descriptor = descriptor
    watches[Int(slot)].handler = handler
    return watch
  }

  /// Changes what a watch waits for. Throws what epoll_ctl(2) failed with; a watch that has ended is left alone.
  public func change(_ watch: Watch, to interest: Readiness) throws(SystemError) {
    guard let descriptor = descriptor(of: watch) else { return }
    let code = CReachLinux_epoll_ctl(epoll.number, EPOLL_CTL_MOD, descriptor, interest.rawValue, watch.bits)
    if code != 0 { throw SystemError("epoll_ctl", FaultCode(errno: code)) }
  }

  /// Ends a watch whose descriptor stays open.
  public func unwatch(_ watch: Watch) {
    guard let descriptor = descriptor(of: watch) else { return }
    _ = CReachLinux_epoll_ctl(epoll.number, EPOLL_CTL_DEL, descriptor, 0, 0)
    forget(watch)
  }

  /// Ends a watch whose descriptor the caller closes now: the kernel drops its own entry at close(2), so this costs no
  /// system call. Not for a descriptor with a duplicate, which would go on reporting.
  public func forget(_ watch: Watch) {
    guard descriptor(of: watch) != nil else { return }
    watches[Int(watch.slot)].descriptor = -1
    watches[Int(watch.slot)].handler = nil
    watches[Int(watch.slot)].generation &+= 1
    freeWatches.append(watch.slot)
  }

  private func descriptor(of watch: Watch) -> Int32? {
    guard watch.slot < UInt32(watches.count) else { return nil }
    let slot = watches[Int(watch.slot)]
    return slot.generation == watch.generation && slot.descriptor >= 0 ? slot.descriptor : nil
  }
}
