/// An IPv4 or IPv6 address, in the order of the wire; IPv6 may carry a zone (RFC 4007).
///
/// An IPv4-mapped IPv6 address (`::ffff:192.0.2.1`) cannot be held: every way in makes the IPv4 address of it.
public struct IPAddress: Hashable, Sendable {
  /// The two families.
  public enum Family: String, Hashable, Sendable, CaseIterable {
    /// AF_INET.
    case ipv4
    /// AF_INET6.
    case ipv6
  }

  /// The family.
  public let family: Family
  /// The first eight octets of an IPv6 address, big end first; 0 for IPv4.
  public let high: UInt64
  /// The last eight octets of an IPv6 address, or the four of an IPv4 address, big end first.
  public let low: UInt64
  /// Few addresses have a zone, and there are many addresses: one word for it is enough.
  private let scope: Scope?

  private final class Scope: Hashable, Sendable {
    let zone: String
    init(_ zone: String) { self.zone = zone }
    static func == (left: Scope, right: Scope) -> Bool { left.zone == right.zone }
    func hash(into hasher: inout Hasher) { hasher.combine(zone) }
  }

  /// The zone of a link-local IPv6 address: an interface's name or index.
  public var zone: String? { scope?.zone }

  /// The IPv4 address of these 32 bits, big end first: 0x7f000001 is 127.0.0.1.
  public init(ipv4 bits: UInt32) {
    self.init(family: .ipv4, high: 0, low: UInt64(bits), zone: nil)
  }

  /// The IPv6 address of these two halves, or the IPv4 address when they are a mapped one.
  public init(ipv6High high: UInt64, low: UInt64, zone: String? = nil) {
    if high == 0, low >> 32 == 0xffff {
      self.init(ipv4: UInt32(truncatingIfNeeded: low))
    } else {
      self.init(family: .ipv6, high: high, low: low, zone: zone)
    }
  }

  private init(family: Family, high: UInt64, low: UInt64, zone: String?) {
    self.family = family
    self.high = high
    self.low = low
    scope = zone.map(Scope.init)
  }

  /// The address of 4 or 16 octets in the order of the wire; nil for any other number of them.
  public init?(octets: some Collection<UInt8>, zone: String? = nil) {
    var words: (UInt64, UInt64) = (0, 0)
    for octet in octets {
      words.0 = words.0 << 8 | words.1 >> 56
      words.1 = words.1 << 8 | UInt64(octet)
    }
    switch octets.count {
    case 4: self.init(ipv4: UInt32(truncatingIfNeeded: words.1))
    case 16: self.init(ipv6High: words.0, low: words.1, zone: zone)
    default: return nil
    }
  }

  /// The 4 or 16 octets in the order of the wire.
  public var octets: [UInt8] {
    switch family {
    case .ipv4: (0..<4).map { UInt8(truncatingIfNeeded: low >> (24 - 8 * UInt64($0))) }
    case .ipv6:
      (0..<16).map { index in
        let word = index < 8 ? high : low
        return UInt8(truncatingIfNeeded: word >> (56 - 8 * UInt64(index % 8)))
      }
    }
  }

  /// The 32 bits of an IPv4 address, big end first; nil for IPv6.
  public var ipv4Bits: UInt32? { family == .ipv4 ? UInt32(truncatingIfNeeded: low) : nil }

  /// The same address in another zone.
  public func scoped(to zone: String?) -> IPAddress {
    family == .ipv4 ? self : IPAddress(ipv6High: high, low: low, zone: zone)
  }

  // MARK: Kinds (RFC 6890, RFC 4291)

  /// `0.0.0.0` or `::`.
  public var isUnspecified: Bool { high == 0 && low == 0 }
  /// 127/8 or `::1`.
  public var isLoopback: Bool { family == .ipv4 ? low >> 24 == 127 : high == 0 && low == 1 }
  /// 224/4 or ff00::/8.
  public var isMulticast: Bool { family == .ipv4 ? low >> 28 == 0xe : high >> 56 == 0xff }
  /// 255.255.255.255.
  public var isBroadcast: Bool { family == .ipv4 && low == 0xffff_ffff }
  /// 169.254/16 or fe80::/10.
  public var isLinkLocal: Bool { family == .ipv4 ? low >> 16 == 0xa9fe : high >> 54 == 0x3fa }
}

extension IPAddress: CustomStringConvertible {
  /// The dotted quad, or the form of RFC 5952 with the zone behind `%`.
  public var description: String {
    guard family == .ipv6 else {
      return "\(low >> 24 & 0xff).\(low >> 16 & 0xff).\(low >> 8 & 0xff).\(low & 0xff)"
    }
    let groups = (0..<8).map { index in
      UInt16(truncatingIfNeeded: (index < 4 ? high : low) >> (48 - 16 * UInt64(index % 4)))
    }
    var text = ""
    let zeros = Self.longestZeroRun(groups)
    var index = 0
    while index < 8 {
      if index == zeros.lowerBound, zeros.count > 1 {
        text += "::"
        index = zeros.upperBound
        continue
      }
      if index > 0, !text.hasSuffix(":") { text += ":" }
      text += String(groups[index], radix: 16)
      index += 1
    }
    if let zone { text += "%" + zone }
    return text
  }

  private static func longestZeroRun(_ groups: [UInt16]) -> Range<Int> {
    var best = 0..<0
    var start = 0
    while start < 8 {
      guard groups[start] == 0 else {
        start += 1
        continue
      }
      var end = start
      while end < 8, groups[end] == 0 { end += 1 }
      if end - start > best.count { best = start..<end }
      start = end
    }
    return best
  }
}
