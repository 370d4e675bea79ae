public import ReachCore

/// One entry of `probe_allow`.
public enum AllowRule: Hashable, Sendable, CustomStringConvertible {
  /// `*`: every name and every address.
  case any
  /// This name.
  case name(HostName)
  /// `*.example.com`: every name below this one, and not the name itself.
  case subdomains(of: HostName)
  /// The addresses that have the first `prefix` bits of this one.
  case network(IPAddress, prefix: Int)

  /// Reads `*`, a name, `*.` with a name, an address, or a network such as `192.0.2.0/24`.
  public init(parsing text: String) throws(ValueError) {
    if text == "*" {
      self = .any
    } else if text.hasPrefix("*.") {
      self = .subdomains(of: try HostName(parsing: String(text.dropFirst(2))))
    } else if let slash = text.utf8.firstIndex(of: UInt8(ascii: "/")), !text.hasScheme {
      self = try Self.network(
        try AddressText.parse(String(text[..<slash])), String(text[text.utf8.index(after: slash)...]), text)
    } else if text.utf8.contains(UInt8(ascii: ":")) && !text.hasScheme || IPAddress.looksNumeric(text) {
      let address: IPAddress
      do { address = try AddressText.parse(text) } catch {
        // What is in front of a single colon could be a host, and the rest a port.
        guard text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 else { throw error }
        throw ValueError("\(quoted(text)) has a port, and every port is allowed or none; leave it out")
      }
      self = .network(address, prefix: Self.width(address))
    } else if text.utf8.contains(UInt8(ascii: "*")) {
      throw ValueError("\(quoted(text)) has a '*' elsewhere than alone in front; write one such as '*.example.com'")
    } else {
      self = .name(try HostName(parsing: text))
    }
  }

  private static func width(_ address: IPAddress) -> Int { address.family == .ipv4 ? 32 : 128 }

  private static func network(_ address: IPAddress, _ length: String, _ text: String) throws(ValueError) -> AllowRule {
    let width = width(address)
    guard length.utf8.allSatisfy({ (48...57).contains($0) }), let prefix = Int(length), prefix <= width else {
      throw ValueError(
        "\(quoted(text)) needs the length of its prefix behind the slash; write a number from 0 to \(width)")
    }
    let network = address.masked(to: prefix)
    guard network == address else {
      throw ValueError("\(quoted(text)) has bits set behind the first \(prefix); write \(network)/\(prefix)")
    }
    return .network(address, prefix: prefix)
  }

  /// The rule as it is written.
  public var description: String {
    switch self {
    case .any: "*"
    case .name(let name): name.display
    case .subdomains(let name): "*.\(name.display)"
    case .network(let address, let prefix):
      prefix == Self.width(address) ? "\(address)" : "\(address)/\(prefix)"
    }
  }
}

extension IPAddress {
  /// The address with all but its first bits zero.
  public func masked(to prefix: Int) -> IPAddress {
    func mask(_ bits: Int) -> UInt64 { bits <= 0 ? 0 : bits >= 64 ? .max : ~(UInt64.max >> UInt64(bits)) }
    guard family == .ipv6 else {
      let kept =
        UInt32(truncatingIfNeeded: low) & (prefix <= 0 ? 0 : prefix >= 32 ? .max : ~(UInt32.max >> UInt32(prefix)))
      return IPAddress(ipv4: kept)
    }
    return IPAddress(ipv6High: high & mask(prefix), low: low & mask(prefix - 64), zone: zone)
  }
}
