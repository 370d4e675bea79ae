internal import ReachCore
internal import ReachIO

extension Scheduler {
  /// Takes note that names may resolve to something else than before, since what says how to resolve them has changed:
  /// every target that is a name gets a fresh round, spread as first rounds are. One that runs is cancelled and told as
  /// `outdated`: it asks whom nobody is to ask any more.
  public func namesMayHaveChanged() { change { $0.renewNames(at: self.loop.now()) } }
}

extension SchedulerCore {
  mutating func renewNames(at now: Instant) {
    for case .some(let slot) in slots {
      guard case .host = slot.runner.target.kind else { continue }
      if schedule.nameChanged(slot.key, at: now) { slot.task?.cancel() }
    }
  }
}
