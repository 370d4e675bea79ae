public import ReachCore

/// What a change of paths does to the schedule.
extension SchedulerState {
  /// The target's path is another than before: a round that runs tells of the old one, and its result will be
  /// `outdated`. The peer is asked again after `followUpDelay`, then after twice that time and so on up to the interval,
  /// since routes and neighbours need a moment to settle. Returns whether a round ran.
  @discardableResult
  public mutating func pathChanged(_ key: Key, at now: Instant) -> Bool {
    guard let index = index(of: key) else { return false }
    follow(index, at: now.nanoseconds)
    guard entries[index].phase == .running else { return false }
    entries[index].isOutdated = true
    return true
  }

  /// A round that runs may tell of a path that is no more, and nothing is known of the one before it: once it has ended,
  /// another begins.
  mutating func doubt(_ key: Key) {
    guard let index = index(of: key), entries[index].phase == .running else { return }
    entries[index].isWantedAgain = true
  }

  /// What the target's name leads to may be another than before: a fresh round follows, spread as first rounds are. The
  /// result of one that runs will be `outdated`, and the fresh one follows its end. Returns whether one ran.
  @discardableResult
  public mutating func nameChanged(_ key: Key, at now: Instant) -> Bool {
    guard let index = index(of: key) else { return false }
    switch entries[index].phase {
    case .idle:
      let fresh = firstDue(key.index, at: now.nanoseconds)
      heap.set(key.index, due: min(fresh, heap.due(of: key.index) ?? .max))
    case .running:
      entries[index].isOutdated = true
      entries[index].isWantedAgain = true
      return true
    case .givenUp: entries[index].isWantedAgain = true
    case .queued, .absent: break
    }
    return false
  }

  /// A target with a shorter interval than the delay is probed soon enough by itself.
  private mutating func follow(_ index: Int, at now: Int64) {
    guard entries[index].interval > followUpDelay else { return }
    let due = now.saturatingPlus(followUpDelay).saturatingPlus(spread(of: index))
    entries[index].followUp = due
    entries[index].backoff = followUpDelay
    heap.set(Int32(index), due: min(due, heap.due(of: Int32(index)) ?? .max))
  }

  /// One follow-up is done; the next waits twice as long.
  mutating func advanceFollowUp(_ index: Int32, at now: Int64) {
    let backoff = entries[Int(index)].backoff.saturatingTimes(2)
    let isLast = backoff >= entries[Int(index)].interval
    entries[Int(index)].backoff = backoff
    entries[Int(index)].followUp = isLast ? .max : now.saturatingPlus(backoff)
  }

  /// What is added to the delay so that many targets do not start as one: they share out a time as long as the delay, or
  /// longer when they are so many that even that would be a burst.
  private func spread(of index: Int) -> Int64 {
    let slot = max(1, settings.shortestSlot.nanoseconds)
    let window = max(followUpDelay, pace.saturatingTimes(Int64(count)))
    let share = (UInt64(truncatingIfNeeded: index) &* 0x9e37_79b9_7f4a_7c15) % UInt64(window)
    return Int64(share) / slot * slot
  }
}
