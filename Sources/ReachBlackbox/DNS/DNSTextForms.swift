internal import ReachCore

/// Base64 with padding (RFC 4648 section 4).
enum Base64 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  static func text(_ octets: ArraySlice<UInt8>) -> String {
    var text = chunked(octets, bits: 6, alphabet)
    while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
    return String(decoding: text, as: UTF8.self)
  }
}

/// Base32 with the extended hexadecimal alphabet, without padding (RFC 4648 section 7).
enum Base32 {
  private static let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUV".utf8)

  static func text(_ octets: ArraySlice<UInt8>) -> String {
    String(decoding: chunked(octets, bits: 5, alphabet), as: UTF8.self)
  }
}

/// The octets cut into pieces of so many bits, the last one filled up with zeros.
private func chunked(_ octets: ArraySlice<UInt8>, bits: UInt32, _ alphabet: [UInt8]) -> [UInt8] {
  var text: [UInt8] = []
  var buffer: UInt32 = 0
  var held: UInt32 = 0
  for octet in octets {
    buffer = buffer << 8 | UInt32(octet)
    held += 8
    while held >= bits {
      held -= bits
      text.append(alphabet[Int(buffer >> held & (1 << bits - 1))])
    }
    buffer &= 0xff
  }
  if held > 0 { text.append(alphabet[Int(buffer << (bits - held) & (1 << bits - 1))]) }
  return text
}

/// The parameters of an SVCB or HTTPS record (RFC 9460 section 2.1), each with a space before it.
enum ServiceParameters {
  private static let names: [UInt16: String] = [
    0: "mandatory", 1: "alpn", 2: "no-default-alpn", 3: "port", 4: "ipv4hint", 5: "ech", 6: "ipv6hint", 7: "dohpath",
    8: "ohttp",
  ]

  private static func name(_ key: UInt16) -> String { names[key] ?? (key == 65535 ? "" : "key\(key)") }

  static func write(_ data: ArraySlice<UInt8>, to text: inout String) -> Bool {
    var rest = data
    var last = -1
    while !rest.isEmpty {
      guard let key = word(&rest), let length = word(&rest), rest.count >= Int(length), key != 65535, Int(key) > last,
        let value = self.text(of: rest.prefix(Int(length)), key)
      else { return false }
      last = Int(key)
      rest = rest.dropFirst(Int(length))
      text += " \(name(key))=\"\(value)\""
    }
    return true
  }

  private static func word(_ rest: inout ArraySlice<UInt8>) -> UInt16? {
    guard let high = rest.popFirst(), let low = rest.popFirst() else { return nil }
    return UInt16(high) << 8 | UInt16(low)
  }

  /// The value as it stands between quotes; nil when it is not what its key says.
  private static func text(of value: ArraySlice<UInt8>, _ key: UInt16) -> String? {
    var rest = value
    var parts: [String] = []
    switch key {
    case 0:
      while !rest.isEmpty {
        guard let key = word(&rest) else { return nil }
        parts.append(name(key))
      }
    case 1:
      while let length = rest.popFirst() {
        guard rest.count >= Int(length) else { return nil }
        parts.append(escaped(rest.prefix(Int(length)), isListed: true))
        rest = rest.dropFirst(Int(length))
      }
    case 2, 8: return value.isEmpty ? "" : nil
    case 3:
      guard value.count == 2, let port = word(&rest) else { return nil }
      return String(port)
    case 4, 6:
      let width = key == 4 ? 4 : 16
      guard !value.isEmpty, value.count % width == 0 else { return nil }
      while !rest.isEmpty {
        guard let address = IPAddress(octets: rest.prefix(width)), (address.family == .ipv4) == (key == 4) else {
          return nil
        }
        parts.append(address.description)
        rest = rest.dropFirst(width)
      }
    case 5: return Base64.text(value)
    default: return escaped(value, isListed: false)
    }
    return parts.joined(separator: ",")
  }

  /// In a list, commas and backslashes are escaped twice (RFC 9460 appendix A.1).
  private static func escaped(_ octets: ArraySlice<UInt8>, isListed: Bool) -> String {
    var text = ""
    for octet in octets {
      switch octet {
      case UInt8(ascii: ",") where isListed: text += #"\\\044"#
      case UInt8(ascii: "\\") where isListed: text += #"\\\092"#
      case UInt8(ascii: "\""), UInt8(ascii: ";"), UInt8(ascii: " "), UInt8(ascii: "\\"):
        text += "\\" + String(UnicodeScalar(octet))
      case 0x20...0x7e: text += String(UnicodeScalar(octet))
      default: text += "\\" + padded(String(octet), to: 3)
      }
    }
    return text
  }
}

/// A place on Earth (RFC 1876 section 3).
enum Location {
  static func text(latitude: UInt32, longitude: UInt32, altitude: UInt32, precisions: [UInt32]) -> String {
    let centimetres = Int(altitude) - 10_000_000
    let whole = "\(centimetres < 0 ? "-" : "")\(abs(centimetres) / 100)"
    let height = centimetres % 100 == 0 ? "\(centimetres / 100)m" : "\(whole).\(two(abs(centimetres) % 100))m"
    let parts = [angle(latitude, "N", "S"), angle(longitude, "E", "W"), height]
    return (parts + precisions.map(precision)).joined(separator: " ")
  }

  /// Thousandths of a second of arc, from the equator or the prime meridian, which is 2³¹.
  private static func angle(_ value: UInt32, _ positive: String, _ negative: String) -> String {
    let offset = Int(value) - 1 << 31
    let thousandths = abs(offset)
    let seconds = "\(thousandths / 1_000 % 60).\(padded(String(thousandths % 1_000), to: 3))"
    return "\(two(thousandths / 3_600_000)) \(two(thousandths / 60_000 % 60)) \(seconds) "
      + (offset > 0 ? positive : negative)
  }

  /// A base and a power of ten, in centimetres, as metres.
  private static func precision(_ value: UInt32) -> String {
    let (base, power) = (Int(value >> 4 & 0xf), Int(value & 0xf))
    if power < 2 { return "0.\(two(power == 1 ? base * 10 : base))m" }
    return "\(base)" + String(repeating: "0", count: power - 2) + "m"
  }

  private static func two(_ value: Int) -> String { padded(String(value), to: 2) }
}
