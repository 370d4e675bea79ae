/// A doubly linked list that runs through the scheduler's entries, of which each is in one list at most.
struct EntryList: Sendable {
  private(set) var first: Int32?
  private var last: Int32 = -1
  private(set) var count = 0

  func next(after index: Int32, in entries: [SchedulerState.Entry]) -> Int32? {
    let next = entries[Int(index)].next
    return next < 0 ? nil : next
  }

  mutating func append(_ index: Int32, to entries: inout [SchedulerState.Entry]) {
    entries[Int(index)].previous = last
    entries[Int(index)].next = -1
    if last >= 0 { entries[Int(last)].next = index } else { first = index }
    last = index
    count += 1
  }

  mutating func remove(_ index: Int32, from entries: inout [SchedulerState.Entry]) {
    let (previous, next) = (entries[Int(index)].previous, entries[Int(index)].next)
    if previous >= 0 { entries[Int(previous)].next = next } else { first = next < 0 ? nil : next }
    if next >= 0 { entries[Int(next)].previous = previous } else { last = previous }
    count -= 1
  }
}
