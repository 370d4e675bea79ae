/// Why a text is no address, or none that can be used.
public struct IPAddressError: Error, Hashable, Sendable, CustomStringConvertible {
  /// For people: what is wrong and what to write instead.
  public let description: String
  init(_ description: String) { self.description = description }
}

extension IPAddress {
  /// Reads a dotted quad or an IPv6 address (RFC 4291 section 2.2, RFC 4007 section 11), without brackets.
  ///
  /// Only the full dotted quad in decimal counts as IPv4: the forms inet_aton(3) also takes (`127.1`, `0x7f.1`,
  /// `010.0.0.1`) mean different addresses to different programs, so they are refused.
  public init(parsing text: String) throws(IPAddressError) {
    let bytes = Array(text.utf8)
    if bytes.contains(UInt8(ascii: ":")) {
      self = try Self.parseIPv6(bytes, text)
    } else {
      self = IPAddress(ipv4: try Self.parseIPv4(bytes[...], text))
    }
  }

  /// Whether the text is meant as an address, rightly written or not: it holds a colon, or nothing but digits, dots
  /// and hexadecimal prefixes, so that it can be no host's name.
  public static func looksNumeric(_ text: String) -> Bool {
    if text.utf8.contains(UInt8(ascii: ":")) { return true }
    guard let last = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: true).last else {
      return false
    }
    let isNumber = last.allSatisfy { (48...57).contains($0) }
    let isHexadecimal =
      (last.starts(with: "0x".utf8) || last.starts(with: "0X".utf8))
      && last.dropFirst(2).allSatisfy { hexadecimalValue($0) != nil }
    return isNumber || isHexadecimal
  }

  /// The text in quotes as a message can show it: on one line, and cut when it is long.
  private static func shown(_ text: String) -> String {
    let scalars = text.unicodeScalars.prefix(64).map { $0.value < 0x20 || (0x7f...0x9f).contains($0.value) ? "?" : $0 }
    var shown = String(String.UnicodeScalarView(scalars))
    if text.unicodeScalars.dropFirst(64).first != nil { shown += "…" }
    return "'\(shown)'"
  }

  private static func parseIPv4(_ bytes: ArraySlice<UInt8>, _ text: String) throws(IPAddressError) -> UInt32 {
    let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard parts.count == 4 else {
      throw IPAddressError("\(shown(text)) is not an IPv4 address: write four numbers, such as 192.0.2.1")
    }
    var bits: UInt32 = 0
    for part in parts {
      guard !part.isEmpty, part.count <= 3, part.allSatisfy({ (48...57).contains($0) }) else {
        throw IPAddressError("\(shown(text)) is not an IPv4 address: write four decimal numbers, such as 192.0.2.1")
      }
      if part.count > 1, part.first == 48 {
        throw IPAddressError("\(shown(text)) is ambiguous: a leading zero means octal to some programs; leave it out")
      }
      let value = part.reduce(UInt32(0)) { $0 * 10 + UInt32($1 - 48) }
      guard value <= 255 else {
        throw IPAddressError("\(shown(text)) is not an IPv4 address: \(value) is above 255")
      }
      bits = bits << 8 | value
    }
    return bits
  }

  private static func parseIPv6(_ bytes: [UInt8], _ text: String) throws(IPAddressError) -> IPAddress {
    var body = bytes[...]
    var zone: String?
    if let percent = bytes.firstIndex(of: UInt8(ascii: "%")) {
      body = bytes[..<percent]
      let name = String(decoding: bytes[(percent + 1)...], as: UTF8.self)
      guard !name.isEmpty, name.utf8.count <= 15, name.utf8.allSatisfy({ $0 > 32 && $0 < 127 && $0 != 47 }) else {
        throw IPAddressError(
          "\(shown(text)) has no usable zone: write an interface's name behind %, such as fe80::1%eth0")
      }
      zone = name
    }
    let malformed = IPAddressError("\(shown(text)) is not an IPv6 address")
    guard !body.isEmpty else { throw malformed }
    var groups: [UInt16] = []
    var gap: Int?
    var index = body.startIndex
    if body.starts(with: Array("::".utf8)) {
      gap = 0
      index += 2
    } else if body.first == UInt8(ascii: ":") {
      throw malformed
    }
    while index < body.endIndex {
      let end = body[index...].firstIndex(of: UInt8(ascii: ":")) ?? body.endIndex
      let part = body[index..<end]
      if part.contains(UInt8(ascii: ".")) {
        guard end == body.endIndex else { throw malformed }
        let bits = try parseIPv4(part, text)
        groups += [UInt16(bits >> 16), UInt16(bits & 0xffff)]
        index = end
        break
      }
      guard let group = parseGroup(part) else { throw malformed }
      groups.append(group)
      guard groups.count <= 8 else { throw malformed }
      index = end
      guard index < body.endIndex else { break }
      index += 1
      if index == body.endIndex { throw malformed }
      if body[index] == UInt8(ascii: ":") {
        guard gap == nil else { throw malformed }
        gap = groups.count
        index += 1
      }
    }
    if let gap {
      guard groups.count < 8 else { throw malformed }
      groups.insert(contentsOf: repeatElement(0, count: 8 - groups.count), at: gap)
    }
    guard groups.count == 8 else { throw malformed }
    let high = groups[..<4].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
    let low = groups[4...].reduce(UInt64(0)) { $0 << 16 | UInt64($1) }
    let address = IPAddress(ipv6High: high, low: low, zone: zone)
    if zone != nil, !(address.family == .ipv6 && (address.isLinkLocal || address.isMulticast)) {
      throw IPAddressError("\(shown(text)) has a zone, which only a link-local address can have; leave it out")
    }
    return address
  }

  private static func parseGroup(_ part: ArraySlice<UInt8>) -> UInt16? {
    guard !part.isEmpty, part.count <= 4 else { return nil }
    var value: UInt16 = 0
    for byte in part {
      guard let digit = hexadecimalValue(byte) else { return nil }
      value = value << 4 | UInt16(digit)
    }
    return value
  }

  private static func hexadecimalValue(_ byte: UInt8) -> UInt8? {
    switch byte {
    case 48...57: byte - 48
    case 65...70: byte - 55
    case 97...102: byte - 87
    default: nil
    }
  }
}
