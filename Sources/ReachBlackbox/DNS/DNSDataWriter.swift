internal import ReachCore

/// Writes the data of one record as text, part by part.
///
/// A record may end before its last parts: numbers are then 0, names and texts empty, as miekg/dns has it. One that ends
/// within a part, or goes on behind the last one, is refused.
struct DNSDataWriter {
  /// What has been written.
  var text = ""
  private let reader: DNSReader
  private let end: Int
  private var offset: Int

  init(_ reader: DNSReader, _ data: Range<Int>) {
    self.reader = reader
    offset = data.lowerBound
    end = data.upperBound
  }

  /// Writes all parts with spaces between. Returns whether they were all there was.
  mutating func write(_ fields: [DNSDataField]) -> Bool {
    for (place, field) in fields.enumerated() {
      // An address that is missing leaves nothing, not even what separates it.
      if isAtEnd, field == .ipv4 || field == .ipv6 { continue }
      if place > 0, field.hasSeparator { text += " " }
      guard write(field) else { return false }
    }
    return offset == end
  }

  /// Writes one part. Returns whether it is whole.
  @discardableResult
  mutating func write(_ field: DNSDataField) -> Bool {
    switch field {
    case .byte, .word, .longWord: return writeNumber(field.width)
    case .name: return writeName()
    case .quoted: return writeString(quote: "\"")
    case .bare: return writeString(quote: "")
    case .strings: return writeStrings()
    case .octets: writeOctets(rest())
    case .raw: text += String(decoding: rest(), as: UTF8.self)
    case .lowerHex: text += hexadecimal(rest())
    case .upperHex: text += hexadecimal(rest()).uppercased()
    case .splitHex: writeSplit(hexadecimal(rest()))
    case .base64: text += Base64.text(rest())
    case .salt: return writeCounted { $0.isEmpty ? "-" : hexadecimal($0).uppercased() }
    case .hash: return writeCounted { Base32.text($0) }
    case .types: return writeTypes()
    case .type: return writeNamed(2) { DNSRecordType(UInt16(truncatingIfNeeded: $0)).description }
    case .time: return writeNamed(4) { Self.time($0) }
    case .ipv4: return writeAddress(4)
    case .ipv6: return writeAddress(16)
    case .parameters: return ServiceParameters.write(rest(), to: &text)
    case .hardwareAddress(let count): return writeGroups(count, of: 1, separator: "-") { $0 }
    case .locator(let capital): return writeGroups(8, of: 2, separator: ":") { capital ? $0.uppercased() : $0 }
    case .certificateType: return writeNamed(2) { Self.certificateTypes[$0] ?? String($0) }
    case .algorithm: return writeNamed(1) { Self.algorithms[$0] ?? String($0) }
    case .location: return writeLocation()
    }
    return true
  }

  // MARK: Octets

  private var isAtEnd: Bool { offset >= end }

  /// All octets that are left.
  private mutating func rest() -> ArraySlice<UInt8> {
    defer { offset = end }
    return reader.bytes[offset..<end]
  }

  /// The next octets; nil when the record has fewer.
  private mutating func take(_ count: Int) -> ArraySlice<UInt8>? {
    guard count >= 0, end - offset >= count else { return nil }
    defer { offset += count }
    return reader.bytes[offset..<(offset + count)]
  }

  /// The next number, big end first; 0 at the end of the record, nil when only a part of it is there.
  private mutating func number(_ width: Int) -> UInt32? {
    isAtEnd ? 0 : take(width)?.reduce(0) { $0 << 8 | UInt32($1) }
  }

  // MARK: Parts

  private mutating func writeNumber(_ width: Int) -> Bool { writeNamed(width) { String($0) } }

  private mutating func writeNamed(_ width: Int, _ name: (UInt32) -> String) -> Bool {
    guard let number = number(width) else { return false }
    text += name(number)
    return true
  }

  private mutating func writeName() -> Bool {
    if isAtEnd { return true }
    guard let nameEnd = reader.endOfName(at: offset), nameEnd <= end, let name = DNSName(reader, at: offset) else {
      return false
    }
    text += name.description
    offset = nameEnd
    return true
  }

  private mutating func writeString(quote: String) -> Bool {
    text += quote
    if !isAtEnd {
      guard let length = take(1)?.first, let octets = take(Int(length)) else { return false }
      for octet in octets { text += Self.escaped(octet) }
    }
    text += quote
    return true
  }

  private mutating func writeStrings() -> Bool {
    var isFirst = true
    while !isAtEnd {
      if !isFirst { text += " " }
      isFirst = false
      guard writeString(quote: "\"") else { return false }
    }
    return true
  }

  /// In quotes. What looks like an escape already is taken for one.
  private mutating func writeOctets(_ octets: ArraySlice<UInt8>) {
    let backslash = UInt8(ascii: "\\")
    text += "\""
    var rest = octets
    while let octet = rest.popFirst() {
      guard octet == backslash else {
        text += Self.escaped(octet)
        continue
      }
      let digits = rest.prefix(3)
      if rest.first == UInt8(ascii: ".") {
        text += "\\."
        rest = rest.dropFirst()
      } else if digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) {
        let value = digits.reduce(0) { $0 * 10 + Int($1 - 48) }
        text += Self.escaped(UInt8(truncatingIfNeeded: value))
        rest = rest.dropFirst(3)
      } else if let next = rest.popFirst() {
        text += Self.escaped(next)
      }
    }
    text += "\""
  }

  private mutating func writeSplit(_ digits: String) {
    var rest = digits[...]
    while rest.utf8.count > 1024 {
      text += rest.prefix(1024) + " "
      rest = rest.dropFirst(1024)
    }
    text += rest
  }

  private mutating func writeCounted(_ form: (ArraySlice<UInt8>) -> String) -> Bool {
    var octets: ArraySlice<UInt8> = []
    if !isAtEnd {
      guard let length = take(1)?.first, let taken = isAtEnd ? [] : take(Int(length)) else { return false }
      octets = taken
    }
    text += form(octets)
    return true
  }

  private mutating func writeTypes() -> Bool {
    var last = -1
    while !isAtEnd {
      guard let head = take(2), let window = head.first.map({ Int($0) }), let length = head.last.map({ Int($0) }),
        window > last, (1...32).contains(length), let map = take(length)
      else { return false }
      last = window
      for (place, octet) in map.enumerated() {
        for bit in 0..<8 where octet & (0x80 >> UInt8(bit)) != 0 {
          text += " \(DNSRecordType(UInt16(truncatingIfNeeded: window * 256 + place * 8 + bit)))"
        }
      }
    }
    return true
  }

  private mutating func writeAddress(_ width: Int) -> Bool {
    guard let octets = take(width), let address = IPAddress(octets: octets) else { return false }
    // An IPv4-mapped address is one of IPv6 here.
    if width == 16, address.family == .ipv4 { text += "::ffff:" }
    text += address.description
    return true
  }

  private mutating func writeGroups(
    _ count: Int, of size: Int, separator: String, _ form: (String) -> String
  ) -> Bool {
    let octets: [UInt8]
    if isAtEnd {
      octets = [UInt8](repeating: 0, count: count)
    } else {
      guard let taken = take(count) else { return false }
      octets = Array(taken)
    }
    let groups = stride(from: 0, to: count, by: size).map { form(hexadecimal(octets[$0..<($0 + size)])) }
    text += groups.joined(separator: separator)
    return true
  }

  private mutating func writeLocation() -> Bool {
    guard number(1) != nil, let size = number(1), let horizontal = number(1), let vertical = number(1),
      let latitude = number(4), let longitude = number(4), let altitude = number(4)
    else { return false }
    text += Location.text(
      latitude: latitude, longitude: longitude, altitude: altitude, precisions: [size, horizontal, vertical])
    return true
  }

  // MARK: Forms

  /// The octet as it stands between quotes.
  private static func escaped(_ octet: UInt8) -> String {
    switch octet {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(octet))
    case 0x20...0x7e: String(UnicodeScalar(octet))
    default: "\\" + padded(String(octet), to: 3)
    }
  }

  private static func time(_ seconds: UInt32) -> String {
    let text = Timestamp(nanosecondsSinceEpoch: Int64(seconds) * 1_000_000_000).description
    return String(text.filter { $0.isNumber }.prefix(14))
  }

  private static let certificateTypes: [UInt32: String] = [
    1: "PKIX", 2: "SPKI", 3: "PGP", 4: "IPIX", 5: "ISPKI", 6: "IPGP", 7: "ACPKIX", 8: "IACPKIX", 253: "URI",
    254: "OID",
  ]
  private static let algorithms: [UInt32: String] = [
    1: "RSAMD5", 2: "DH", 3: "DSA", 5: "RSASHA1", 6: "DSA-NSEC3-SHA1", 7: "RSASHA1-NSEC3-SHA1", 8: "RSASHA256",
    10: "RSASHA512", 12: "ECC-GOST", 13: "ECDSAP256SHA256", 14: "ECDSAP384SHA384", 15: "ED25519", 16: "ED448",
    252: "INDIRECT", 253: "PRIVATEDNS", 254: "PRIVATEOID",
  ]
}

extension DNSDataField {
  /// How many octets a number has.
  fileprivate var width: Int {
    switch self {
    case .byte: 1
    case .word: 2
    default: 4
    }
  }

  /// Whether a space comes before it. Types and parameters bring one each.
  fileprivate var hasSeparator: Bool {
    switch self {
    case .types, .parameters: false
    default: true
    }
  }
}
