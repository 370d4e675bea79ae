/// A generator whose numbers follow from its seed alone (SplitMix64), so that a failure can be had again.
struct Seeded {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x2545_f491_4f6c_dd1d &+ 0x9e37_79b9_7f4a_7c15 }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }

  /// A number from 0 up to, and without, `bound`.
  mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(bound)) }

  /// A number of nanoseconds between these two times, short ones as likely as long ones by their order of magnitude.
  mutating func spread(from least: Int64, to most: Int64) -> Int64 {
    var upper = max(1, least)
    let steps = Int64.bitWidth - (most / upper).leadingZeroBitCount
    upper <<= Int64(below(max(1, steps)))
    return min(most, upper + Int64(next() % UInt64(upper)))
  }

  /// Whether something happens that happens in so many of a hundred cases.
  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

  mutating func pick<Value>(_ values: [Value]) -> Value { values[below(values.count)] }
}

/// Times in nanoseconds.
enum Time {
  static let microsecond: Int64 = 1_000
  static let millisecond: Int64 = 1_000_000
  static let second: Int64 = 1_000_000_000
}
