internal import ReachCore

/// A duration as the toolkit's library reads it: Go's units, of which there are more than ours, and a bare number of
/// nanoseconds.
enum GoDuration {
  /// Throws for what is no duration, or a negative one.
  static func parse(_ text: String) throws(ValueError) -> Duration {
    if !text.isEmpty, text.utf8.count <= 18, text.utf8.allSatisfy({ (48...57).contains($0) }) {
      return .nanoseconds(Int64(text) ?? 0)
    }
    for (unit, scale) in [("ns", 1.0), ("us", 1_000.0), ("µs", 1_000.0), ("μs", 1_000.0)] where text.hasSuffix(unit) {
      guard let number = Double(text.dropLast(unit.count)), number >= 0, number <= 1e15 else { break }
      return .nanoseconds(Int64(number * scale))
    }
    return try Duration(parsing: text)
  }
}
