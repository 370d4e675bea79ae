internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachMetrics
internal import ReachProbe
internal import ReachScheduler
internal import ReachState

/// Another list of targets, ready to be watched: all that can go wrong with it has gone well.
struct RosterChange {
  let origin: Roster.Origin
  let plan: RosterPlan
  /// What runs the probes, for each step that needs something else than what runs.
  private let runners: [RoundRunner?]

  /// Makes what the list needs. Throws when a backend refuses its options.
  init(
    of roster: Roster, _ origin: Roster.Origin, to targets: [ConfiguredTarget], with pool: inout BackendPool
  ) throws(AgentError) {
    let loaded = pool.names
    self.origin = origin
    plan = RosterPlan(roster, origin, targets) { $0.isCurrent($1, loaded: loaded) }
    var runners: [RoundRunner?] = []
    runners.reserveCapacity(plan.steps.count)
    for step in plan.steps {
      switch step {
      case .keep: runners.append(nil)
      case .change(_, let target), .add(let target): runners.append(try pool.runner(for: target))
      }
    }
    self.runners = runners
  }

  /// Whether a target is removed or watched in another way.
  var leavesSomething: Bool { !plan.removed.isEmpty || plan.counts.changed > 0 }

  /// Has the board watch the list from now on. `restored` is what is known of targets that are new, by name; `leaving` has
  /// those that were declared until just now, as they stood. Returns those that are to be scheduled anew.
  func commit(
    on board: TargetBoard, detail: MetricsDetail, restored: [String: RestoredTarget],
    leaving: [String: WatchedTarget] = [:]
  ) -> [WatchedTarget] {
    var watched: [WatchedTarget] = []
    var fresh: [WatchedTarget] = []
    var replaced: [WatchedTarget] = []
    watched.reserveCapacity(plan.steps.count)
    for (step, runner) in zip(plan.steps, runners) {
      switch (step, runner) {
      case (.keep(let target), _): watched.append(target)
      case (.change(let old, let target), let runner?):
        replaced.append(old)
        fresh.append(WatchedTarget(runner, target.probes, key: old.key, after: old, detail: detail, on: board.loop))
        watched.append(fresh[fresh.count - 1])
      case (.add(let target), let runner?):
        let key = board.roster.withState { $0.takeKey() }
        let name = target.target.name
        fresh.append(
          leaving[name].map {
            WatchedTarget(runner, target.probes, key: key, after: $0, detail: detail, on: board.loop)
          }
            ?? WatchedTarget(
              runner, target.probes, key: key, detail: detail, restored: restored[name], on: board.loop))
        watched.append(fresh[fresh.count - 1])
      case (.change, nil), (.add, nil): break
      }
    }
    board.set(origin, to: watched, removing: plan.removed, replacing: replaced)
    return fresh
  }
}
