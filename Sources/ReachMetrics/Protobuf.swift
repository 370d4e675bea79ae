/// Protocol buffers as far as MetricFamily needs them (protobuf.dev, "Encoding"): a field is its number and wire type in
/// one varint, then the value.
extension ByteWriter {
  private static let varintType: UInt64 = 0
  private static let fixed64Type: UInt64 = 1
  private static let lengthType: UInt64 = 2

  mutating func append(varint value: UInt64) {
    var rest = value
    while rest >= 0x80 {
      append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    append(UInt8(truncatingIfNeeded: rest))
  }

  /// uint64, uint32 and enumerations.
  mutating func append(field: UInt64, integer value: UInt64) {
    append(varint: field << 3 | Self.varintType)
    append(varint: value)
  }

  /// int64.
  mutating func append(field: UInt64, signed value: Int64) { append(field: field, integer: UInt64(bitPattern: value)) }

  /// sint64 and sint32: small numbers of either sign are short.
  mutating func append(field: UInt64, zigzag value: Int64) {
    append(field: field, integer: UInt64(bitPattern: value << 1 ^ value >> 63))
  }

  mutating func append(field: UInt64, double value: Double) {
    append(varint: field << 3 | Self.fixed64Type)
    let bits = value.bitPattern
    for shift in 0..<8 { append(UInt8(truncatingIfNeeded: bits >> (8 * UInt64(shift)))) }
  }

  /// Nanoseconds as seconds: the whole ones by themselves, since a double has no room for nanoseconds since 1970.
  mutating func append(field: UInt64, seconds nanoseconds: Int64) {
    let (whole, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
    append(field: field, double: Double(whole) + Double(rest) / 1e9)
  }

  mutating func append(field: UInt64, text: String) {
    append(varint: field << 3 | Self.lengthType)
    append(varint: UInt64(text.utf8.count))
    append(text)
  }

  /// What has been encoded already.
  mutating func append(encoded bytes: [UInt8]) { append(bytes) }

  /// A message within a message.
  mutating func append(field: UInt64, _ body: (inout ByteWriter) -> Void) {
    let mark = openMessage(field: field)
    body(&self)
    closeMessage(mark)
  }

  /// Begins a message of a field, or one that stands by itself with its length before it.
  mutating func openMessage(field: UInt64? = nil) -> Int {
    if let field { append(varint: field << 3 | Self.lengthType) }
    // Its length is not known yet; most have one below 128.
    append(0)
    return count
  }

  /// Ends the message that began there: writes its length before it.
  mutating func closeMessage(_ mark: Int) {
    guard !hasOverflowed else { return }
    var length = UInt64(count - mark)
    var needed = 1
    while length >> (7 * UInt64(needed)) > 0 { needed += 1 }
    shift(from: mark, by: needed - 1)
    guard !hasOverflowed else { return }
    for index in 0..<needed {
      let more: UInt8 = index + 1 < needed ? 0x80 : 0
      set(UInt8(truncatingIfNeeded: length) & 0x7f | more, at: mark - 1 + index)
      length >>= 7
    }
  }
}
