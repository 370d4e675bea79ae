/// Base64 as RFC 4648 section 4 has it.
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
  private static let padding = UInt8(ascii: "=")

  /// The octets; nil when it is not base64. White space within is left out.
  static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    let digits = text.filter { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
    guard digits.count % 4 == 0 else { return nil }
    let padded = digits.suffix(2).count { $0 == padding }
    let body = digits.dropLast(padded)
    var octets: [UInt8] = []
    octets.reserveCapacity(digits.count / 4 * 3)
    var bits: UInt32 = 0
    for (index, digit) in body.enumerated() {
      guard let value = value(digit) else { return nil }
      bits = bits << 6 | value
      // Each digit but the first of four completes an octet.
      let open = 6 * UInt32(index % 4 + 1) % 8
      if index % 4 > 0 { octets.append(UInt8(truncatingIfNeeded: bits >> open)) }
    }
    return octets
  }

  /// The base64 of the octets.
  static func encode(_ octets: [UInt8]) -> String {
    var text: [UInt8] = []
    for start in stride(from: 0, to: octets.count, by: 3) {
      let group = octets[start..<min(start + 3, octets.count)]
      var bits = group.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
      bits <<= 8 * UInt32(3 - group.count)
      for place in 0..<4 {
        text.append(place <= group.count ? alphabet[Int(bits >> (18 - 6 * UInt32(place)) & 63)] : padding)
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func value(_ digit: UInt8) -> UInt32? {
    switch digit {
    case 65...90: UInt32(digit - 65)
    case 97...122: UInt32(digit - 71)
    case 48...57: UInt32(digit + 4)
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
