internal import ReachCore
internal import ReachIO

extension Scheduler {
  /// How long the look goes on before others on the loop have their turn.
  private static let pieceTime = Duration.milliseconds(2)

  /// Takes note that paths may have changed. They are looked at at once, or when a burst of changes is over
  /// (`ChangeWindow`); every target that has had a round is told as `looked`, those behind the links in question first.
  ///
  /// A target whose path is another than before loses the round that runs, and is probed again soon.
  public func pathsMayHaveChanged(_ what: PathChange) {
    change { $0.looking.note(what, at: self.loop.now()) }
    lookIfDue()
  }

  /// Begins a look at all paths if one is due.
  func lookIfDue() {
    let number = core.withState { $0.isStopped ? nil : $0.beginLook(at: loop.now()) }
    guard let number else { return }
    let task = loop.spawn { await self.look(number) }
    core.withState { if $0.looking.isCurrent(number) { $0.looking.task = task } }
    change { _ in }
  }

  /// Looks at the targets' paths one after another, a piece at a time: a look at ten thousand targets keeps the loop
  /// from nothing else for long.
  private func look(_ number: UInt32) async {
    var now = loop.now()
    var pieceEnds = now.advanced(by: Self.pieceTime)
    while let key = core.withState({ $0.looking.next(for: number, at: now) }) {
      await look(at: key, number)
      now = loop.now()
      guard now >= pieceEnds else { continue }
      await loop.sleep(until: now)
      now = loop.now()
      pieceEnds = now.advanced(by: Self.pieceTime)
    }
    if core.withState({ $0.looking.end(number, at: loop.now()) }) { onLookEnd() }
    lookIfDue()
    change { _ in }
  }

  private func look(at key: SchedulerState.Key, _ number: UInt32) async {
    guard let slot = core.withState({ $0.slot(of: key) }), let kept = slot.kept else { return }
    let runner = slot.runner
    let findings = await runner.lookAtPath(after: kept, until: loop.now().advanced(by: runner.target.policy.timeout))
    let now = loop.now()
    // While a backend took its time, a round may have ended and seen more, or the target may be gone.
    guard let look = core.withState({ $0.renew(key, kept, findings, number, at: now) }) else { return }
    observer(slot.tag, .looked(look))
  }
}
