/// The newest transitions, where there is nowhere else to keep them.
struct TransitionRing {
  private var kept: [Transition] = []
  /// Where the oldest stands, once all places are taken.
  private var oldest = 0
  private let capacity: Int

  init(capacity: Int) { self.capacity = max(1, capacity) }

  mutating func append(_ transition: Transition) {
    if kept.count < capacity { return kept.append(transition) }
    kept[oldest] = transition
    oldest = (oldest + 1) % capacity
  }

  /// The newest of a target, or of all, newest first.
  func newest(_ limit: Int, of target: String?) -> [Transition] {
    let ordered = kept[oldest...] + kept[..<oldest]
    return Array(ordered.reversed().lazy.filter { target == nil || $0.target == target }.prefix(max(0, limit)))
  }
}
