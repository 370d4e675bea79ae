internal import ReachCore

extension SchedulerState {
  /// The first due time after `time` that is the target's own: its offset plus a whole number of intervals since the
  /// clock's start, rounded down to a slot.
  func place(of index: Int32, after time: Int64) -> Int64 {
    let entry = entries[Int(index)]
    let slot = settings.slot(forInterval: entry.interval)
    var nominal = lastNominal(at: time, entry)
    // Rounding down moves a place by less than an interval, so the second candidate is the latest that can be needed.
    while nominal / slot * slot <= time {
      let (next, overflow) = nominal.addingReportingOverflow(entry.interval)
      if overflow { return .max }
      nominal = next
    }
    return nominal / slot * slot
  }

  /// Whether this due time is one of the target's own places.
  func isPlace(_ due: Int64, of entry: Entry) -> Bool {
    let slot = settings.slot(forInterval: entry.interval)
    let nominal = lastNominal(at: due.saturatingPlus(slot - 1), entry)
    return nominal / slot * slot == due
  }

  /// The latest offset-plus-whole-intervals at or before `time`. Times before the clock's start count as the start.
  private func lastNominal(at time: Int64, _ entry: Entry) -> Int64 {
    let since = max(0, time) - entry.offset
    return since >= 0 ? since / entry.interval * entry.interval + entry.offset : entry.offset
  }

  /// When the first round of a target is due: at once within the burst, then at the pace, but no later than the
  /// target's own place, which lies within one interval.
  mutating func firstDue(_ index: Int32, at now: Int64) -> Int64 {
    let own = place(of: index, after: now)
    let burst = pace.multipliedReportingOverflow(by: Int64(max(1, settings.burst)))
    let credit = burst.overflow ? Int64.max : burst.partialValue
    let taken = max(firstRoundsTaken, now)
    // Beyond the burst, in groups of a shortest slot, so that they share wake-ups too.
    let wait = max(0, taken.saturatingPlus(pace).saturatingMinus(credit).saturatingMinus(now))
    let group = max(1, settings.shortestSlot.nanoseconds)
    let due = now.saturatingPlus(wait == 0 ? 0 : (wait / group).saturatingPlus(1).saturatingTimes(group))
    guard due < own else { return own }
    firstRoundsTaken = taken.saturatingPlus(pace)
    return due
  }
}

extension Int64 {
  func saturatingPlus(_ other: Int64) -> Int64 {
    let (sum, overflow) = addingReportingOverflow(other)
    return overflow ? (other < 0 ? .min : .max) : sum
  }

  func saturatingMinus(_ other: Int64) -> Int64 {
    let (difference, overflow) = subtractingReportingOverflow(other)
    return overflow ? (other < 0 ? .max : .min) : difference
  }

  func saturatingTimes(_ other: Int64) -> Int64 {
    let (product, overflow) = multipliedReportingOverflow(by: other)
    return overflow ? .max : product
  }
}
