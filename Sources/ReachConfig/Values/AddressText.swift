internal import ReachCore

/// Addresses as the configuration writes them, with the rules for which can be used where.
enum AddressText {
  /// Reads an address, with brackets or without, of any kind.
  static func parse(_ text: String) throws(ValueError) -> IPAddress {
    if text.hasPrefix("[") {
      guard text.hasSuffix("]") else {
        throw ValueError("\(quoted(text)) is not an address; a port has no place here")
      }
      let inner = String(text.dropFirst().dropLast())
      guard inner.contains(":") else {
        throw ValueError("\(quoted(text)) is not an IPv6 address; only those stand in brackets")
      }
      return try read(inner)
    }
    if let split = ambiguousSplit(text) { throw ambiguous(text, split) }
    return try read(text)
  }

  /// Reads an address that can be a target: neither unspecified nor multicast, broadcast or link-local without a zone.
  static func parseTarget(_ text: String) throws(ValueError) -> IPAddress {
    let address = try parse(text)
    try checkTarget(address)
    return address
  }

  static func checkTarget(_ address: IPAddress) throws(ValueError) {
    let problem: String? =
      if address.isUnspecified {
        "is the unspecified address, which no host has; for the default path write 'default'"
      } else if address.isMulticast {
        "is a multicast address; write the address of one host"
      } else if address.isBroadcast {
        "is the broadcast address; write the address of one host"
      } else if address.family == .ipv6, address.isLinkLocal, address.zone == nil {
        "is a link-local address, which needs the interface: write \(address)%eth0"
      } else {
        nil
      }
    if let problem { throw ValueError("'\(address)' \(problem)") }
  }

  private static func read(_ text: String) throws(ValueError) -> IPAddress {
    do {
      return try IPAddress(parsing: text)
    } catch {
      // `1:2:3:4:5:6:7:8:80`: no address, but one with a port behind it.
      if !text.holds(":::"), let split = lastColon(text), let address = try? IPAddress(parsing: split.address),
        address.family == .ipv6
      {
        throw ValueError("\(quoted(text)) is not an IPv6 address; with a port write [\(address)]:\(split.port)")
      }
      throw ValueError(error.description)
    }
  }

  private static func ambiguous(_ text: String, _ split: (address: String, port: String)) -> ValueError {
    ValueError(
      "\(quoted(text)) is ambiguous: write [\(split.address)]:\(split.port) for a port, or [\(text)] for the address")
  }

  /// The two halves of an IPv6 address that could just as well be a shorter one with a port behind it.
  private static func ambiguousSplit(_ text: String) -> (address: String, port: String)? {
    guard let split = lastColon(text), Int(split.port).map({ (1...65_535).contains($0) }) == true,
      !split.port.hasPrefix("0"), !split.address.hasSuffix(":"),
      (try? IPAddress(parsing: text)) != nil, (try? IPAddress(parsing: split.address))?.family == .ipv6
    else { return nil }
    return split
  }

  private static func lastColon(_ text: String) -> (address: String, port: String)? {
    guard text.utf8.count <= 64, let colon = text.lastIndex(of: ":") else { return nil }
    let port = text[text.index(after: colon)...]
    guard !port.isEmpty, port.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
    return (String(text[..<colon]), String(port))
  }
}
