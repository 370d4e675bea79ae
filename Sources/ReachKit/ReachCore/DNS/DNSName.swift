/// A name of the DNS, in the two forms it has: octets as on the wire, and text as in zone files (RFC 1035 sections 3.1
/// and 5.1). Unlike a host's name it may hold any octet. Its letters keep their case, and names that differ in it differ.
public struct DNSName: Hashable, Sendable {
  /// Labels with their lengths, and the root's empty one; at most 255 octets.
  public let wire: [UInt8]

  /// The name of the root.
  public static let root = DNSName(wire: [0])

  /// The name at that place of a message; nil when it is none.
  public init?(_ reader: DNSReader, at offset: Int) {
    guard let wire = reader.name(at: offset) else { return nil }
    self.init(wire: wire)
  }

  /// Reads the text of a name, which is absolute with the dot at its end or without. `\.` is a dot within a label,
  /// `\DDD` an octet in decimal. Nil for an empty text or label, one of more than 63 octets, more than 255 in all, or a
  /// backslash with nothing behind it.
  public init?(_ text: String) {
    if text == "." {
      self = .root
      return
    }
    var wire: [UInt8] = [0]
    var start = 0
    var octets = Array(text.utf8)[...]
    while let octet = octets.popFirst() {
      if octet == UInt8(ascii: ".") {
        guard wire.count - start > 1 else { return nil }
        // The dot at the end has no label behind it.
        if octets.isEmpty { break }
        start = wire.count
        wire.append(0)
        continue
      }
      guard let value = octet == UInt8(ascii: "\\") ? Self.escaped(&octets) : octet else { return nil }
      wire.append(value)
      guard wire.count - start <= 64, wire.count < 255 else { return nil }
      wire[start] += 1
    }
    guard wire.count - start > 1 else { return nil }
    self.init(wire: wire + [0])
  }

  private init(wire: [UInt8]) { self.wire = wire }

  /// The octet that a backslash announces.
  private static func escaped(_ octets: inout ArraySlice<UInt8>) -> UInt8? {
    guard let first = octets.first else { return nil }
    let digits = octets.prefix(3)
    guard digits.count == 3, digits.allSatisfy({ (48...57).contains($0) }) else {
      octets = octets.dropFirst()
      return first
    }
    octets = octets.dropFirst(3)
    return UInt8(exactly: digits.reduce(0) { $0 * 10 + Int($1 - 48) })
  }

  /// Whether the two are one name to a server: ASCII letters are equal in either case (RFC 4343).
  public func isSame(as other: DNSName) -> Bool {
    wire.count == other.wire.count && DNSReader.lowercased(wire) == DNSReader.lowercased(other.wire)
  }
}

extension DNSName: CustomStringConvertible {
  /// The text, with a dot at its end. Octets that mean something in a zone file have a backslash before them, those that
  /// cannot be printed are `\DDD`.
  public var description: String {
    guard wire.count > 1 else { return "." }
    var text: [UInt8] = []
    text.reserveCapacity(wire.count + 8)
    var offset = 0
    while offset < wire.count, wire[offset] > 0 {
      let end = min(offset + 1 + Int(wire[offset]), wire.count)
      for octet in wire[(offset + 1)..<end] { Self.append(octet, to: &text) }
      text.append(UInt8(ascii: "."))
      offset = end
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func append(_ octet: UInt8, to text: inout [UInt8]) {
    switch octet {
    case UInt8(ascii: "."), UInt8(ascii: " "), UInt8(ascii: "'"), UInt8(ascii: "@"), UInt8(ascii: ";"),
      UInt8(ascii: "("), UInt8(ascii: ")"), UInt8(ascii: "\""), UInt8(ascii: "\\"):
      text.append(UInt8(ascii: "\\"))
      text.append(octet)
    case 0x21...0x7e: text.append(octet)
    default:
      text.append(UInt8(ascii: "\\"))
      for divisor: UInt8 in [100, 10, 1] { text.append(48 + octet / divisor % 10) }
    }
  }
}
