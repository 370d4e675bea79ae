/// A name and a password, as a request brings them (RFC 7617).
struct BasicCredentials: Hashable, Sendable {
  /// The name.
  let name: [UInt8]
  /// The password.
  let password: [UInt8]

  init(name: [UInt8], password: [UInt8]) {
    self.name = name
    self.password = password
  }

  /// Those in the value of the field Authorization; nil for another scheme, and for what cannot be read.
  init?(authorization value: String) {
    let bytes = Array(value.utf8)
    guard bytes.count > 6, String(decoding: bytes[..<6], as: UTF8.self).lowercased() == "basic " else { return nil }
    guard let decoded = Self.decoded(bytes[6...].drop { $0 == UInt8(ascii: " ") }),
      let colon = decoded.firstIndex(of: UInt8(ascii: ":"))
    else { return nil }
    self.init(name: Array(decoded[..<colon]), password: Array(decoded[(colon + 1)...]))
  }

  /// The bytes that base64 stands for (RFC 4648 section 4), with its padding; nil for anything else.
  private static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
    guard text.count % 4 == 0 else { return nil }
    let padding = text.reversed().prefix { $0 == UInt8(ascii: "=") }.count
    guard padding <= 2 else { return nil }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.count / 4 * 3)
    var bits: UInt32 = 0
    var count = 0
    for letter in text.dropLast(padding) {
      guard let value = value(of: letter) else { return nil }
      bits = bits << 6 | UInt32(value)
      count += 6
      if count >= 8 {
        count -= 8
        bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
      }
    }
    // What is left over holds no bits of ours.
    return bits & ((1 << UInt32(count)) - 1) == 0 ? bytes : nil
  }

  private static func value(of letter: UInt8) -> UInt8? {
    switch letter {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): letter - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): letter - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}
