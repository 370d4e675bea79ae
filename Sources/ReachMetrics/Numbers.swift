/// Numbers as text, written straight into bytes.
extension [UInt8] {
  /// Appends the decimal digits.
  mutating func append(decimal value: some BinaryInteger) {
    if value < 0 { append(UInt8(ascii: "-")) }
    append(digitsOf: UInt64(truncatingIfNeeded: value.magnitude))
  }

  private mutating func append(digitsOf value: UInt64) {
    if value < 10 { return append(48 + UInt8(truncatingIfNeeded: value)) }
    var divisor: UInt64 = 1
    while value / divisor >= 10 { divisor *= 10 }
    while divisor > 0 {
      append(48 + UInt8(truncatingIfNeeded: value / divisor % 10))
      divisor /= 10
    }
  }

  /// Appends nanoseconds as seconds: exact, without trailing zeros.
  mutating func append(seconds nanoseconds: Int64) {
    if nanoseconds < 0 { append(UInt8(ascii: "-")) }
    let magnitude = nanoseconds.magnitude
    append(digitsOf: magnitude / 1_000_000_000)
    var fraction = magnitude % 1_000_000_000
    guard fraction != 0 else { return }
    append(UInt8(ascii: "."))
    var divisor: UInt64 = 100_000_000
    while fraction != 0 {
      append(48 + UInt8(truncatingIfNeeded: fraction / divisor))
      fraction %= divisor
      divisor /= 10
    }
  }
}
