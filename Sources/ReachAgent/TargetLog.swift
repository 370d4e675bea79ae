internal import ReachIO
internal import ReachLog
internal import ReachState

/// Logs what happens to targets, in the order in which it happens: but a line that tells of a change of status is written
/// once that is kept, so that nothing is ever logged and then forgotten.
struct TargetLog: Sendable {
  let log: Logger
  let store: StateStore

  /// Says that this has happened now.
  func say(_ event: LogEvent) {
    guard log.isEnabled(event.level) else { return }
    let wall = WallClock.nanosecondsSinceEpoch()
    store.afterwards { [log] in log.log(event, at: wall) }
  }
}
