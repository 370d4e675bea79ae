/// Which entry is due next: a four-ary heap of (due time, entry), ties by entry.
///
/// It knows where each entry stands, so one can be moved or taken out in O(log n) without a search. No operation
/// allocates once the tables have grown.
struct DueHeap: Sendable {
  private struct Node {
    var due: Int64
    var entry: Int32
    func precedes(_ other: Node) -> Bool { due != other.due ? due < other.due : entry < other.entry }
  }

  private var nodes: [Node] = []
  /// Where each entry stands; -1 for one that is not in the heap.
  private var positions: [Int32] = []

  var firstDue: Int64? { nodes.first?.due }
  var firstEntry: Int32? { nodes.first?.entry }

  /// When the entry is due; nil for one that is not in the heap.
  func due(of entry: Int32) -> Int64? {
    guard Int(entry) < positions.count, positions[Int(entry)] >= 0 else { return nil }
    return nodes[Int(positions[Int(entry)])].due
  }

  /// Makes room for that many entries in all, and no more.
  mutating func reserve(_ count: Int) {
    nodes.reserveCapacity(count)
    positions.reserveCapacity(count)
  }

  /// Puts the entry in, or moves it when it is in.
  mutating func set(_ entry: Int32, due: Int64) {
    while positions.count <= Int(entry) { positions.append(-1) }
    let position = Int(positions[Int(entry)])
    guard position >= 0 else {
      nodes.append(Node(due: due, entry: entry))
      return siftUp(nodes.count - 1)
    }
    let earlier = due < nodes[position].due
    nodes[position].due = due
    if earlier { siftUp(position) } else { siftDown(position) }
  }

  /// Takes the entry out, if it is in.
  mutating func remove(_ entry: Int32) {
    guard Int(entry) < positions.count, positions[Int(entry)] >= 0 else { return }
    let position = Int(positions[Int(entry)])
    positions[Int(entry)] = -1
    let removed = nodes[position]
    let last = nodes.removeLast()
    guard position < nodes.count else { return }
    nodes[position] = last
    if last.precedes(removed) { siftUp(position) } else { siftDown(position) }
  }

  private mutating func siftUp(_ start: Int) {
    let node = nodes[start]
    var position = start
    while position > 0 {
      let parent = (position - 1) / 4
      guard node.precedes(nodes[parent]) else { break }
      place(nodes[parent], at: position)
      position = parent
    }
    place(node, at: position)
  }

  private mutating func siftDown(_ start: Int) {
    let node = nodes[start]
    var position = start
    while true {
      let firstChild = position * 4 + 1
      guard firstChild < nodes.count else { break }
      var least = firstChild
      for child in firstChild..<min(firstChild + 4, nodes.count) where nodes[child].precedes(nodes[least]) {
        least = child
      }
      guard nodes[least].precedes(node) else { break }
      place(nodes[least], at: position)
      position = least
    }
    place(node, at: position)
  }

  private mutating func place(_ node: Node, at position: Int) {
    nodes[position] = node
    positions[Int(node.entry)] = Int32(truncatingIfNeeded: position)
  }
}
