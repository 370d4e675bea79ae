internal import ReachCore

// Every byte that the kernel sent is read through these: none trusts an offset or a length, and none can trap.
extension RawSpan {
  /// A value of the host's byte order, or nil when it does not lie wholly within the bytes. Only for types that any bit
  /// pattern is a value of: the kernel's own structures.
  func load<Value: BitwiseCopyable>(_ type: Value.Type, at offset: Int) -> Value? {
    guard offset >= 0, offset <= byteCount, MemoryLayout<Value>.size <= byteCount &- offset else { return nil }
    return unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: Value.self)
  }

  // The widths attributes have, written out since they are read many times a lookup.

  /// An octet.
  func octet(at offset: Int) -> UInt8? {
    guard offset >= 0, offset < byteCount else { return nil }
    return unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt8.self)
  }

  /// 16 bits of the host's byte order.
  func half(at offset: Int) -> UInt16? {
    guard offset >= 0, offset <= byteCount &- 2 else { return nil }
    return unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt16.self)
  }

  /// 32 bits of the host's byte order.
  func word(at offset: Int) -> UInt32? {
    guard offset >= 0, offset <= byteCount &- 4 else { return nil }
    return unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt32.self)
  }

  /// 64 bits of the host's byte order.
  func doubleWord(at offset: Int) -> UInt64? {
    guard offset >= 0, offset <= byteCount &- 8 else { return nil }
    return unsafe unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)
  }

  /// The address that fills the range: 4 octets or 16, in the order of the wire; nil for any other length.
  func address(in range: Range<Int>) -> IPAddress? {
    switch range.count {
    case 4: word(at: range.lowerBound).map { IPAddress(ipv4: UInt32(bigEndian: $0)) }
    case 16:
      if let high = doubleWord(at: range.lowerBound), let low = doubleWord(at: range.lowerBound &+ 8) {
        IPAddress(ipv6High: UInt64(bigEndian: high), low: UInt64(bigEndian: low))
      } else {
        nil
      }
    default: nil
    }
  }

  /// The text in the range up to its first NUL; what is not UTF-8 is repaired.
  func text(in range: Range<Int>) -> String {
    let whole = range.clamped(to: 0..<byteCount)
    var end = whole.lowerBound
    while end < whole.upperBound, let octet = octet(at: end), octet != 0 { end &+= 1 }
    return String(decoding: octets(in: whole.lowerBound..<end), as: UTF8.self)
  }

  /// The octets in the range, as far as it lies within the bytes.
  func octets(in range: Range<Int>) -> [UInt8] {
    let whole = range.clamped(to: 0..<byteCount)
    var octets: [UInt8] = []
    octets.reserveCapacity(whole.count)
    for offset in whole { if let octet = octet(at: offset) { octets.append(octet) } }
    return octets
  }
}
