/// What is to come to pass, soonest first and in the order in which it was entered.
struct Agenda<Entry> {
  private struct Item {
    let at: Int64
    let order: Int
    let entry: Entry

    func precedes(_ other: Item) -> Bool { at != other.at ? at < other.at : order < other.order }
  }

  private var heap: [Item] = []
  private var entered = 0

  /// When the first is due.
  var first: Int64? { heap.first?.at }

  mutating func enter(_ entry: Entry, at time: Int64) {
    entered += 1
    heap.append(Item(at: time, order: entered, entry: entry))
    var child = heap.count - 1
    while child > 0, heap[child].precedes(heap[(child - 1) / 2]) {
      heap.swapAt(child, (child - 1) / 2)
      child = (child - 1) / 2
    }
  }

  mutating func popDue(at now: Int64) -> Entry? {
    guard let first = heap.first, first.at <= now else { return nil }
    heap.swapAt(0, heap.count - 1)
    heap.removeLast()
    var parent = 0
    while 2 * parent + 1 < heap.count {
      var least = 2 * parent + 1
      if least + 1 < heap.count, heap[least + 1].precedes(heap[least]) { least += 1 }
      guard heap[least].precedes(heap[parent]) else { break }
      heap.swapAt(least, parent)
      parent = least
    }
    return first.entry
  }
}
