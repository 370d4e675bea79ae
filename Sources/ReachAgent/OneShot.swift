internal import ReachAggregator
public import ReachConfig
public import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe
internal import ReachScheduler

/// What one round saw of one target.
public struct OneShotResult: Sendable {
  /// The target.
  public let target: Target
  /// What was seen.
  public let report: RoundReport
  /// What it comes to, without waiting for confirmations.
  public let verdict: Verdict

  /// The result as the API shows a target.
  public var view: TargetView {
    let wall = WallClock.nanosecondsSinceEpoch()
    return TargetView(
      target: target, state: TargetState(verdict: verdict, since: wall),
      runs: report.runs.filter { $0.outcome != .skipped }.map { TargetView.LastRun(run: $0, at: wall) })
  }
}

/// One round against each of some targets, and no more: what `reachd probe` does.
public enum OneShot {
  /// Probes all targets at once, as far as there are descriptors, and returns what was seen, in their order. Blocks
  /// until then: at most a little longer than the longest timeout where there are enough. Throws when this host cannot probe at all.
  public static func run(_ targets: [ConfiguredTarget], in preparation: Preparation) throws(AgentError)
    -> [OneShotResult]
  {
    guard let configuration = preparation.configuration else { throw AgentError("the configuration has errors") }
    let loop: EventLoop
    do { loop = try EventLoop() } catch { throw AgentError("no event loop: \(error)") }
    let budget = DescriptorBudget.ofThisProcess(listeners: 0)
    let host = try ProbeHost.open(configuration, within: budget, on: loop)
    if let refusal = host.netlink.refusal {
      let trouble = SelfChecks.Trouble(netlinkRefusedBy: refusal)
      throw AgentError("\(trouble.problem); \(trouble.remedy)")
    }
    var pool = BackendPool(preparation.plugins, host: host)
    var runners: [RoundRunner] = []
    for target in targets { runners.append(try pool.runner(for: target)) }
    let results = LoopConfined([RoundReport?](repeating: nil, count: runners.count), on: loop)
    let next = LoopConfined(0, on: loop)
    let unfinished = LoopConfined(runners.count, on: loop)
    let all = runners
    // As many lanes as there are descriptors for; each takes the next target when it is through with one.
    for _ in 0..<min(runners.count, budget.rounds) {
      loop.spawn {
        while let index = next.withState({ $0 < all.count ? $0 : nil }) {
          next.withState { $0 += 1 }
          let report = await all[index].runOnce()
          results.withState { $0[index] = report }
          unfinished.withState { $0 -= 1 }
        }
        if unfinished.withState({ $0 == 0 }) { loop.stop() }
      }
    }
    if !runners.isEmpty { loop.run() }
    return zip(runners, results.withState { $0 }).compactMap { runner, report in
      report.map {
        OneShotResult(
          target: runner.target, report: $0, verdict: Judge.verdict(on: $0.findings, of: runner.target))
      }
    }
  }
}
