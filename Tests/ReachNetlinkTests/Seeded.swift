/// A small generator, so that a failure can be had again: xorshift64* (Marsaglia).
struct Seeded {
  var state: UInt64
  mutating func next() -> UInt64 {
    state ^= state >> 12
    state ^= state << 25
    state ^= state >> 27
    return state &* 0x2545_f491_4f6c_dd1d
  }
  mutating func next(below bound: Int) -> Int { Int(next() >> 33) % bound }
}
