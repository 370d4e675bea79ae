/// What passwords have come to, by their digests, so that no more than one look is taken at each. A plain value.
///
/// Right and wrong ones are kept apart: whoever tries one password after the other makes nobody wait who has the right one.
struct PasswordMemory {
  /// How many of each are kept.
  static let capacity = 256

  private var right = Ring()
  private var wrong = Ring()

  private struct Ring {
    var known: Set<PasswordQuestion.Digest> = []
    private var order: [PasswordQuestion.Digest] = []
    private var next = 0

    mutating func add(_ digest: PasswordQuestion.Digest) {
      guard known.insert(digest).inserted else { return }
      if order.count < PasswordMemory.capacity {
        order.append(digest)
      } else {
        known.remove(order[next])
        order[next] = digest
        next = (next + 1) % order.count
      }
    }
  }

  /// What was found; nil for what is not known, or not any more.
  func answer(_ digest: PasswordQuestion.Digest) -> Bool? {
    if right.known.contains(digest) { return true }
    return wrong.known.contains(digest) ? false : nil
  }

  /// Takes note of what was found.
  mutating func note(_ digest: PasswordQuestion.Digest, isRight: Bool) {
    if isRight { right.add(digest) } else { wrong.add(digest) }
  }
}
