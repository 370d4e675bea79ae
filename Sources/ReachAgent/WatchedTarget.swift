internal import ReachAggregator
internal import ReachConfig
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

  /// What it is known by among all targets.
  let key: Int
  let runner: RoundRunner
  /// The probes as they are configured.
  let probes: [ConfiguredProbe]
  let series: LoopConfined<TargetSeries>
  let standing: LoopConfined<Standing>

  var target: Target { runner.target }

  /// Whether it has to be resolved.
  var isName: Bool { if case .host = target.kind { true } else { false } }

  /// A target of which nothing is known, or that goes on from what was kept of it.
  init(
    _ runner: RoundRunner, _ probes: [ConfiguredProbe], key: Int, detail: MetricsDetail,
    restored: RestoredTarget? = nil, on loop: EventLoop
  ) {
    self.key = key
    self.runner = runner
    self.probes = probes
    var series = TargetSeries(runner, detail: detail, at: loop.now())
    var standing = Standing()
    if let restored {
      series.restore(restored, at: loop.now())
      standing.judge = TargetJudge(
        restored, rawChanges: series.rawChanges, at: loop.now(), wall: WallClock.nanosecondsSinceEpoch())
    }
    self.series = LoopConfined(series, on: loop)
    self.standing = LoopConfined(standing, on: loop)
  }

  /// A target that has been watched in another way, and goes on as it stood when it asks the same as before.
  convenience init(
    _ runner: RoundRunner, _ probes: [ConfiguredProbe], key: Int, after old: WatchedTarget, detail: MetricsDetail,
    on loop: EventLoop
  ) {
    let restored = RestoredTarget(old.fullRecord(at: loop.now()), as: runner.target)
    self.init(runner, probes, key: key, detail: detail, restored: restored, on: loop)
    guard restored.state != nil else { return }
    var kept = old.standing.withState { $0 }
    kept.holdTimer = nil
    kept.runs = kept.runs.compactMap { $0.moved(from: old.runner.probes, to: runner.probes) }
    series.withState { $0.setDamping(rawChanges: kept.judge.rawChanges, isFlapping: kept.judge.isDamped) }
    standing.withState { $0 = kept }
  }

  /// Whether it is watched just as it is configured there, by backends that are loaded.
  func isCurrent(_ configured: ConfiguredTarget, loaded: Set<String>) -> Bool {
    target == configured.target && probes == configured.probes
      && !runner.probes.contains { $0.backend == nil && loaded.contains($0.name) }
  }

  /// Has its series told in that detail from now on. Histograms begin again.
  func setDetail(_ detail: MetricsDetail, at now: Instant) {
    let record = fullRecord(at: now)
    let (isDamped, rawChanges) = standing.withState { ($0.judge.isDamped, $0.judge.rawChanges) }
    series.withState { series in
      var fresh = TargetSeries(runner, detail: detail, at: now)
      fresh.restore(RestoredTarget(record, as: target), at: now)
      fresh.setDamping(rawChanges: rawChanges, isFlapping: isDamped)
      series = fresh
    }
  }

  /// Why this process may not look at the kernel's tables; nil where it may.
  var kernelRefusal: FaultCode? { runner.host.links.refusal?.code }

  /// The interface that the target last left by, if it is down, gone or without carrier now.
  var lostEgress: String? {
    guard let egress = standing.withState({ $0.judge.lastEgress }) else { return nil }
    let links = runner.host.links
    // Where none can be seen, none is known to be lost.
    guard kernelRefusal == nil else { return nil }
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

extension TargetSeries {
  /// The series of a target that has not been probed.
  fileprivate init(_ runner: RoundRunner, detail: MetricsDetail, at now: Instant) {
    let probes = runner.probes.map { ProbeDescription(name: $0.name, layer: $0.layer) }
    self.init(target: runner.target, probes: probes, detail: detail, at: now)
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
