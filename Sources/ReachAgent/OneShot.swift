internal import ReachAggregator
public import ReachConfig
public import ReachCore
internal import ReachIO
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
  /// Probes all targets at once and returns what was seen, in their order. Blocks until then, at most a little longer
  /// than the longest timeout. Throws when this host cannot probe at all.
  public static func run(_ targets: [ConfiguredTarget], in preparation: Preparation) throws(AgentError)
    -> [OneShotResult]
  {
    guard let configuration = preparation.configuration else { throw AgentError("the configuration has errors") }
    let loop: EventLoop
    do { loop = try EventLoop() } catch { throw AgentError("no event loop: \(error)") }
    let host = try ProbeHost.open(configuration, on: loop)
    var pool = BackendPool(preparation.plugins, host: host)
    var runners: [RoundRunner] = []
    for target in targets { runners.append(try pool.runner(for: target)) }
    let results = LoopConfined([RoundReport?](repeating: nil, count: runners.count), on: loop)
    let unfinished = LoopConfined(runners.count, on: loop)
    for (index, runner) in runners.enumerated() {
      loop.spawn {
        let report = await runner.runOnce()
        results.withState { $0[index] = report }
        if unfinished.withState({ count in
          count -= 1
          return count == 0
        }) {
          loop.stop()
        }
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
