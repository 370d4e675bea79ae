import ReachCore

@testable import ReachAggregator
@testable import ReachMetrics
@testable import ReachScheduler

/// What of a target outlives the agent.
struct Kept {
  /// The target as it stood with its newest status; nil before the first.
  var state: TargetState?
  /// How often it had turned into each status.
  var transitions: [Status: UInt64] = [:]
  /// All other counters, as they were when the agent was last stopped in good order.
  var counters: [NamedCount] = []
}

extension MiniatureAgent {
  /// Keeps what a change of status is to leave behind.
  func keep(_ events: [TargetEvent], of tag: Int) {
    let isStatus = events.contains { event in
      switch event {
      case .initial, .changed: true
      case .flagsChanged, .pathChanged: false
      }
    }
    guard isStatus else { return }
    kept[tag].state = standings[tag].judge.state
    for status in Status.allCases { kept[tag].transitions[status] = standings[tag].series.transitions(into: status) }
  }

  /// The agent ends, in good order or killed, and begins anew with what was kept.
  func restart(isKilled: Bool) {
    if !isKilled {
      for tag in standings.indices {
        kept[tag].state = standings[tag].judge.state
        kept[tag].counters = standings[tag].series.counters(at: instant)
      }
    }
    for tag in standings.indices { standings[tag] = restored(tag) }
    rounds = []
    ends = Agenda()
    look = nil
    hasSlept = false
    world.forget()
    auditor.restarted(standings, wall: wall)
    begin()
  }

  /// As `WatchedTarget` goes on from what was kept.
  private func restored(_ tag: Int) -> Standing {
    var standing = Standing(runners[tag], at: instant)
    standing.series.restore(kept[tag].counters) { kept[tag].transitions[$0] ?? 0 }
    guard let state = kept[tag].state else { return standing }
    standing.series.update(state, at: instant)
    standing.judge = TargetJudge(
      restoring: state, rawChanges: standing.series.rawChanges, at: instant, wall: wall)
    return standing
  }
}
