internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// Resolves names on an event loop: the way into the engine from tasks, timers and sockets.
final class Resolver: Sendable {
  private let loop: EventLoop
  private let options: DNSOptions
  private let engine: LoopConfined<Engine>
  private let allowance: SocketAllowance
  private let holder: Int

  /// A resolver. Call it on the loop. Its sockets are taken from `sockets`; without that nothing bounds them.
  init(
    options: DNSOptions, loop: EventLoop, paths: SystemFiles.Paths = SystemFiles.Paths(),
    sockets: SocketAllowance? = nil
  ) {
    self.loop = loop
    self.options = options
    let allowance = sockets ?? SocketAllowance(on: loop)
    let reference = WeakReference(on: loop)
    self.allowance = allowance
    let holder = allowance.add(
      SocketAllowance.Holder(
        closeIdle: { reference.resolver?.engine.withState { $0.closeIdleSockets() } },
        becameFree: { reference.resolver?.engine.withState { $0.sendDeferred() } }))
    self.holder = holder
    engine = LoopConfined(
      Engine(options: options, paths: paths, loop: loop, allowance: allowance, holder: holder), on: loop)
    engine.withState { $0.resolver = self }
    reference.point(to: self)
  }

  deinit { allowance.remove(holder) }

  /// Leads to a resolver that is made after it.
  private final class WeakReference: Sendable {
    private struct State { weak var resolver: Resolver? }
    private let state: LoopConfined<State>
    init(on loop: EventLoop) { state = LoopConfined(State(), on: loop) }
    var resolver: Resolver? { state.withState { $0.resolver } }
    func point(to resolver: Resolver) { state.withState { $0.resolver = resolver } }
  }

  /// What resolution of the name says, at the deadline at the latest. Call it from a task on the loop.
  func resolve(
    _ name: String, policy: TargetPolicy, source: SourceBinding, deadline: Instant, log: (any ProbeLog)?
  ) async -> DNSFinding {
    let key = AnswerCache.Key(
      name: name.lowercased(), usesSearchList: policy.search,
      source: options.bindsSource ? source : SourceBinding())
    if let finding = engine.withState({ $0.immediate(key, policy: policy, log: log) }) { return finding }
    let number = engine.withState { $0.nextNumber() }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        if Task.isCancelled { return continuation.resume(returning: DNSFinding(.failed(.dnsTimeout))) }
        let waiter = Job.Waiter(number: number, deadline: deadline, log: log, continuation: continuation)
        engine.withState { $0.join(key, waiter) }
      }
    } onCancel: {
      if loop.isCurrent { cancel(number) } else { loop.spawn { self.cancel(number) } }
    }
  }

  /// How many resolutions are under way.
  var jobCount: Int { engine.withState { $0.jobCount } }

  /// How many channels are open.
  var openChannelCount: Int { engine.withState { $0.openChannelCount } }

  // MARK: Called by the loop

  func timerFired(job number: UInt64) { engine.withState { $0.timerFired(job: number) } }

  func sweepDue() { engine.withState { $0.sweep() } }

  func ready(channel number: UInt64, _ descriptor: Int32, _ readiness: Readiness) {
    engine.withState { $0.ready(channel: number, descriptor, readiness) }
  }

  private func cancel(_ waiter: UInt64) { engine.withState { $0.cancel(waiter: waiter) } }
}
