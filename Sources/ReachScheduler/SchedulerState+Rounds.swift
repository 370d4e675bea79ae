public import ReachCore

extension SchedulerState {
  /// Does what is due: starts rounds or lets them wait, skips those that would overlap, gives up overdue backends.
  public mutating func wake(at now: Instant, into actions: inout [Action]) {
    if nextSweep <= now.nanoseconds { sweep(at: now.nanoseconds, into: &actions) }
    // The end of the clock's range stands for never.
    while let due = heap.firstDue, due <= now.nanoseconds, due < .max, let index = heap.firstEntry {
      isDue(index, since: due, at: now.nanoseconds, into: &actions)
    }
  }

  /// Takes note of a round's end, and starts the next that waits.
  public mutating func finish(
    _ key: Key, number: UInt32, at now: Instant, into actions: inout [Action]
  ) -> Disposition {
    guard let index = index(of: key), entries[index].number == number else { return .late }
    let phase = entries[index].phase
    guard phase == .running || phase == .givenUp else { return .late }
    let lateBy = now.nanoseconds.saturatingMinus(entries[index].limit.saturatingMinus(grace))
    let isStarved = phase == .running && (entries[index].isStarved || lateBy > starvation)
    let isOutdated = entries[index].isOutdated
    leave(index)
    entries[index].phase = .idle
    if entries[index].isWantedAgain || isStarved {
      // What is at once for one is spread for many: they may all have ended for one reason.
      let fresh = firstDue(key.index, at: now.nanoseconds)
      heap.set(key.index, due: min(fresh, heap.due(of: key.index) ?? .max))
      entries[index].isPostponed = false
    } else if entries[index].isPostponed {
      heap.set(key.index, due: min(now.nanoseconds, heap.due(of: key.index) ?? .max))
    }
    entries[index].isWantedAgain = false
    startWaiting(at: now.nanoseconds, into: &actions)
    if phase != .running { return .late }
    return isStarved ? .starved : isOutdated ? .outdated : .report
  }

  private mutating func isDue(_ index: Int32, since due: Int64, at now: Int64, into actions: inout [Action]) {
    let isFollowUp = due >= entries[Int(index)].followUp
    if isFollowUp { advanceFollowUp(index, at: now) }
    let entry = entries[Int(index)]
    let key = Key(index: index, generation: entry.generation)
    // A round that waits or runs does for a follow-up.
    if isFollowUp, entry.phase != .idle { return setDue(index, place: place(of: index, after: now)) }
    let missed = Int(clamping: now.saturatingMinus(due) / entry.interval)
    if entry.phase == .idle {
      if missed > 0 || now.saturatingMinus(due) > starvation {
        // Long overdue, and so are all others: one fresh round, dealt out anew so that they do not start in one burst.
        if missed > 0 { actions.append(.skip(key, rounds: missed)) }
        let fresh = firstDue(index, at: now)
        guard fresh <= now else { return heap.set(index, due: fresh) }
      }
      entries[Int(index)].roundDue = missed > 0 ? now : due
      let spacing = entry.isPostponed ? now : roundSpacing(from: now, due: due, entry)
      entries[Int(index)].isPostponed = false
      setDue(index, place: place(of: index, after: spacing))
      if inFlight < max(1, settings.maximumInFlight) {
        start(index, at: now, into: &actions)
      } else {
        entries[Int(index)].phase = .queued
        queue.append(index, to: &entries)
      }
    } else {
      if entry.phase == .queued {
        // A round that still waits stands for this one from now on, and its lag is counted from here.
        entries[Int(index)].roundDue = due
        actions.append(.crowdOut(key, rounds: missed + 1))
      } else if missed == 0, entry.phase == .running, now < entry.limit, !entry.isPostponed {
        // It keeps to its time, which may be all of the interval.
        entries[Int(index)].isPostponed = true
      } else {
        actions.append(.skip(key, rounds: missed + 1))
      }
      setDue(index, place: place(of: index, after: now))
    }
  }

  /// The target's next round is due in its place, or before that to follow something up.
  private mutating func setDue(_ index: Int32, place: Int64) {
    heap.set(index, due: min(place, entries[Int(index)].followUp))
  }

  /// From when on the target's own place counts: for a round in its place that is now, for one out of its place (the
  /// first, or one that was asked for) it leaves the round room to end, and the target half an interval of rest.
  private func roundSpacing(from now: Int64, due: Int64, _ entry: Entry) -> Int64 {
    isPlace(due, of: entry) ? now : now.saturatingPlus(max(entry.interval / 2, entry.timeout)) &- 1
  }

  mutating func startWaiting(at now: Int64, into actions: inout [Action]) {
    while inFlight < max(1, settings.maximumInFlight), let index = queue.first {
      queue.remove(index, from: &entries)
      start(index, at: now, into: &actions)
    }
  }

  private mutating func start(_ index: Int32, at now: Int64, into actions: inout [Action]) {
    let entry = entries[Int(index)]
    let deadline = now.saturatingPlus(entry.timeout)
    let limit = deadline.saturatingPlus(grace)
    entries[Int(index)].phase = .running
    entries[Int(index)].number &+= 1
    entries[Int(index)].limit = limit
    entries[Int(index)].isStarved = false
    entries[Int(index)].isOutdated = false
    entries[Int(index)].isOverdue = false
    running.append(index, to: &entries)
    inFlight += 1
    nextSweep = min(nextSweep, sweepTime(limit))
    actions.append(
      .start(
        Round(
          key: Key(index: index, generation: entry.generation), number: entry.number &+ 1,
          deadline: Instant(nanoseconds: deadline),
          lag: .nanoseconds(max(0, now.saturatingMinus(entry.roundDue))))))
  }

  // MARK: Overruns

  /// Looks at every running round, seldom: one sweep serves all rounds whose limits lie near one another.
  private mutating func sweep(at now: Int64, into actions: inout [Action]) {
    let wasPunctual = now.saturatingMinus(nextSweep) <= Self.sweepTolerance
    nextSweep = .max
    var cursor = running.first
    while let index = cursor {
      cursor = running.next(after: index, in: entries)
      let entry = entries[Int(index)]
      if entry.limit > now {
        nextSweep = min(nextSweep, sweepTime(entry.limit))
      } else if wasPunctual, entry.isOverdue {
        leave(Int(index))
        entries[Int(index)].phase = .givenUp
        givenUp += 1
        actions.append(.giveUp(Key(index: index, generation: entry.generation), number: entry.number))
      } else {
        // Seen for the first time, or this thread was held up: the backend may have had no chance to keep to its time, since
        // timers come before tasks. It gets the grace again.
        if now.saturatingMinus(entry.limit.saturatingMinus(grace)) > starvation {
          entries[Int(index)].isStarved = true
        }
        entries[Int(index)].isOverdue = true
        entries[Int(index)].limit = now.saturatingPlus(grace)
        nextSweep = min(nextSweep, sweepTime(entries[Int(index)].limit))
      }
    }
    startWaiting(at: now, into: &actions)
  }

  private static let sweepTolerance: Int64 = 100_000_000

  /// A limit rounded up to the slots that rounds start in, so that a sweep seldom needs a wake-up of its own.
  private func sweepTime(_ limit: Int64) -> Int64 {
    let grid = max(1, settings.longestSlot.nanoseconds)
    return limit >= .max - grid ? .max : (limit / grid + 1) * grid
  }
}
