internal import ReachCore

/// Names one scheduled timer. A cancelled or fired timer's name is never given again.
public struct TimerID: Hashable, Sendable {
  let slot: UInt32
  let generation: UInt32
}

/// Timers ordered by due time: a four-ary heap over a table of slots, so that scheduling and cancelling cost O(log n)
/// and neither allocates once the table has grown.
///
/// A plain value without a clock; the event loop drives it. Timers of the same instant fire in the order they were set.
struct TimerHeap {
  typealias Handler = @Sendable () -> Void

  private struct Slot {
    var generation: UInt32 = 0
    var position = -1
    var handler: Handler?
  }

  private struct Entry {
    var due: Int64
    var order: UInt64
    var slot: UInt32

    func precedes(_ other: Entry) -> Bool { due != other.due ? due < other.due : order < other.order }
  }

  private var slots: [Slot] = []
  private var free: [UInt32] = []
  private var heap: [Entry] = []
  private var order: UInt64 = 0

  var count: Int { heap.count }

  /// When the next timer is due.
  var next: Instant? { heap.first.map { Instant(nanoseconds: $0.due) } }

  mutating func schedule(at due: Instant, _ handler: @escaping Handler) -> TimerID {
    let slot: UInt32
    if let reused = free.popLast() {
      slot = reused
    } else {
      slot = UInt32(slots.count)
      slots.append(Slot())
    }
    slots[Int(slot)].handler = handler
    order &+= 1
    heap.append(Entry(due: due.nanoseconds, order: order, slot: slot))
    slots[Int(slot)].position = heap.count - 1
    siftUp(heap.count - 1)
    return TimerID(slot: slot, generation: slots[Int(slot)].generation)
  }

  /// Takes the timer out. Returns false when it has fired or was cancelled before.
  @discardableResult
  mutating func cancel(_ id: TimerID) -> Bool {
    guard id.slot < UInt32(slots.count) else { return false }
    let slot = slots[Int(id.slot)]
    guard slot.generation == id.generation, slot.position >= 0 else { return false }
    remove(at: slot.position)
    _ = retire(id.slot)
    return true
  }

  /// Names the timer that was set last: a larger number is a later one.
  var newest: UInt64 { order }

  /// Takes out the first timer that is due at `now`, if there is one, and returns what it is to do. Stops at one that
  /// was set later than `newest`.
  mutating func popDue(at now: Instant, setUpTo newest: UInt64 = .max) -> Handler? {
    guard let first = heap.first, first.due <= now.nanoseconds, first.order <= newest else { return nil }
    remove(at: 0)
    return retire(first.slot)
  }

  private mutating func retire(_ slot: UInt32) -> Handler? {
    let handler = slots[Int(slot)].handler
    slots[Int(slot)].handler = nil
    slots[Int(slot)].position = -1
    slots[Int(slot)].generation &+= 1
    free.append(slot)
    return handler
  }

  private mutating func remove(at position: Int) {
    let last = heap.removeLast()
    guard position < heap.count else { return }
    heap[position] = last
    slots[Int(last.slot)].position = position
    siftDown(position)
    siftUp(slots[Int(last.slot)].position)
  }

  private mutating func siftUp(_ start: Int) {
    var position = start
    let entry = heap[position]
    while position > 0 {
      let parent = (position - 1) / 4
      guard entry.precedes(heap[parent]) else { break }
      place(heap[parent], at: position)
      position = parent
    }
    place(entry, at: position)
  }

  private mutating func siftDown(_ start: Int) {
    var position = start
    let entry = heap[position]
    while true {
      let firstChild = position * 4 + 1
      guard firstChild < heap.count else { break }
      var least = firstChild
      for child in firstChild..<min(firstChild + 4, heap.count) where heap[child].precedes(heap[least]) {
        least = child
      }
      guard heap[least].precedes(entry) else { break }
      place(heap[least], at: position)
      position = least
    }
    place(entry, at: position)
  }

  private mutating func place(_ entry: Entry, at position: Int) {
    heap[position] = entry
    slots[Int(entry.slot)].position = position
  }
}
