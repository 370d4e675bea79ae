internal import ReachAggregator
internal import ReachCore
internal import ReachIO
internal import ReachMetrics
internal import ReachNetlink
internal import ReachProbe
internal import ReachScheduler
internal import ReachState

/// One target while the agent runs: how it is probed, how it stands, what is counted of it.
final class WatchedTarget: Sendable {
  /// What changes with every round.
  struct Standing {
    var judge = TargetJudge()
    /// The newest run of each probe that has run.
    var runs: [KeptRun] = []
    /// Why the last round told nothing, if it did not.
    var lastFault: Reason?
    /// Whether the first round has ended.
    var hasFinishedRound = false
    /// Set while a path verdict waits for its `hold` to end.
    var holdTimer: TimerID?
  }

  /// Its place among all targets.
  let key: Int
  let runner: RoundRunner
  let series: LoopConfined<TargetSeries>
  let standing: LoopConfined<Standing>

  var target: Target { runner.target }

  /// A target of which nothing is known, or that goes on from what the agent's last run left.
  init(
    _ runner: RoundRunner, key: Int, detail: MetricsDetail, restored: RestoredTarget? = nil, on loop: EventLoop
  ) {
    self.key = key
    self.runner = runner
    let now = loop.now()
    let probes = runner.probes.map { ProbeDescription(name: $0.name, layer: $0.layer) }
    var series = TargetSeries(target: runner.target, probes: probes, detail: detail, at: now)
    var standing = Standing()
    if let restored {
      series.restore(restored, at: now)
      standing.judge = TargetJudge(
        restored, rawChanges: series.rawChanges, at: now, wall: WallClock.nanosecondsSinceEpoch())
    }
    self.series = LoopConfined(series, on: loop)
    self.standing = LoopConfined(standing, on: loop)
  }

  /// The interface that the target last left by, if it is down, gone or without carrier now.
  var lostEgress: String? {
    guard let egress = standing.withState({ $0.judge.lastEgress }) else { return nil }
    let links = runner.host.links
    // By index, which a renamed interface keeps; one that was made anew has another index and the same name.
    let link = links.finding(index: egress.interfaceIndex) ?? links.finding(named: egress.interface)
    switch link.state {
    case .usable, .dormant: return nil
    case .down, .noCarrier, .lowerLayerDown, .missing: return link.interface
    }
  }

  /// The target as it stands.
  var view: TargetView {
    standing.withState { standing in
      TargetView(
        target: target, state: standing.judge.state, runs: standing.runs.map { $0.lastRun(among: runner.probes) })
    }
  }
}

extension WatchedTarget.Standing {
  /// Keeps what is new of each probe. A run that was skipped leaves the one before standing.
  mutating func keep(_ finished: [ProbeRun], of probes: [PlannedProbe], at wall: Int64) {
    for run in finished {
      guard let place = probes.firstIndex(where: { $0.name == run.probe }),
        let kept = KeptRun(run, place: place, at: wall)
      else { continue }
      if let index = runs.firstIndex(where: { $0.place == kept.place }) {
        runs[index] = kept
      } else {
        runs.append(kept)
      }
    }
  }
}
