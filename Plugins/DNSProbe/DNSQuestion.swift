internal import ReachCore

/// One question: the addresses of one family of an absolute name.
struct DNSQuestion: Hashable, Sendable {
  /// The name as c-ares takes it: without a trailing dot.
  let name: String
  /// The name as it stands in a message (RFC 1035 section 3.1), in lower case, with the root's empty label.
  let wireName: [UInt8]
  /// The family whose addresses are asked for.
  let family: IPAddress.Family

  /// The question; nil when the name fits in no message.
  init?(name: String, family: IPAddress.Family) {
    guard let wireName = Self.encode(name) else { return nil }
    self.name = name
    self.wireName = wireName
    self.family = family
  }

  /// The record type: A (RFC 1035) or AAAA (RFC 3596).
  var type: UInt16 { family == .ipv4 ? 1 : 28 }
  /// The record type's name.
  var typeName: String { family == .ipv4 ? "A" : "AAAA" }

  private static func encode(_ name: String) -> [UInt8]? {
    let labels = name.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    var wire: [UInt8] = []
    wire.reserveCapacity(name.utf8.count + 2)
    for label in labels {
      guard (1...63).contains(label.count) else { return nil }
      wire.append(UInt8(truncatingIfNeeded: label.count))
      wire.append(contentsOf: label.lazy.map(DNSReader.lowercased))
    }
    wire.append(0)
    return wire.count <= 255 ? wire : nil
  }
}
