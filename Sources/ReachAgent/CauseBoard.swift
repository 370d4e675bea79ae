internal import ReachAggregator
internal import ReachCore
internal import ReachIO
internal import ReachLog
internal import ReachMetrics

/// Which targets fail for one and the same cause: has every judgement noted, and what comes of that logged and shown.
///
/// Isolation: on the event loop.
final class CauseBoard: Sendable {
  private let roster: LoopConfined<Roster>
  private let loop: EventLoop
  private let log: TargetLog
  private let ledger: LoopConfined<CauseLedger>
  private let timer: LoopConfined<(id: TimerID, due: Instant)?>

  /// A board for the targets of that roster.
  init(_ roster: LoopConfined<Roster>, loop: EventLoop, log: TargetLog) {
    self.roster = roster
    self.loop = loop
    self.log = log
    ledger = LoopConfined(CauseLedger(run: .random(in: .min ... .max)), on: loop)
    timer = LoopConfined(nil, on: loop)
  }

  /// Takes in what a target was judged, before that is told. Returns the identifier of the fault that it fails for, if
  /// there may be one beyond the target, and somebody `needsID`.
  func note(
    _ watched: WatchedTarget, _ status: Status, _ evidence: CauseEvidence?, began: Instant, at now: Instant,
    needsID: Bool
  ) -> String? {
    ledger.withState { ledger in
      ledger.note(watched.key, status, evidence, began: began, at: now)
      return needsID ? ledger.causeID(of: watched.key) : nil
    }
  }

  /// Forgets targets that are no longer watched, or ask something else from now on.
  func remove(_ keys: [Int]) {
    ledger.withState { ledger in
      for key in keys { ledger.remove(key) }
    }
  }

  /// Tells what came of the judgements noted so far.
  func settle() { tell { $0.settle(at: $1) } }

  /// Tells what came of a look at all paths.
  func endLook() { tell { $0.endSweep(at: $1) } }

  private func tell(_ settle: (inout CauseLedger, Instant) -> [CauseChange]) {
    let now = loop.now()
    let (changes, next) = ledger.withState { ledger in (settle(&ledger, now), ledger.nextSettle) }
    for change in changes {
      switch change {
      case .announced(let report):
        log.say(
          .cause(id: report.id, cause: report.cause.description, targets: names(report.targets), reason: report.reason))
      case .cleared(let report, let lasted):
        log.say(
          .causeCleared(
            id: report.id, cause: report.cause.description, targets: names(report.targets), lasted: lasted))
      case .assigned(let key, let cause):
        let watched = roster.withState { $0[key] }
        watched?.series.withState { $0.setCause(cause?.description) }
      }
    }
    wait(until: next)
  }

  private func names(_ keys: [Int]) -> [String] {
    roster.withState { roster in keys.compactMap { roster[$0]?.target.name } }
  }

  /// Comes back when a fault that holds is to be told.
  private func wait(until next: Instant?) {
    timer.withState { timer in
      guard timer?.due != next else { return }
      if let timer { loop.cancel(timer.id) }
      timer = next.map { due in
        (loop.schedule(at: due) { [weak self] in self?.elapsed() }, due)
      }
    }
  }

  private func elapsed() {
    timer.withState { $0 = nil }
    settle()
  }
}
