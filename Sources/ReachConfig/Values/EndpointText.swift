internal import ReachCore

/// `HOST`, `HOST:PORT`, `[v6]` and `[v6]:PORT`, taken apart.
struct EndpointText {
  /// The host, as it was written, without brackets.
  enum Host {
    /// The text of an IPv6 address.
    case ipv6(String)
    /// A name or an IPv4 address.
    case other(String)
  }

  var host: Host
  var port: UInt16?

  /// Takes the text apart; whether the host is one is left open. `lowest` is the lowest port.
  init(_ text: String, lowest: Int = 1) throws(ValueError) {
    if text.hasPrefix("[") {
      guard let end = text.firstIndex(of: "]") else {
        throw ValueError("\(quoted(text)) has no closing bracket; write it as [2001:db8::1]:443")
      }
      host = .ipv6(String(text[text.index(after: text.startIndex)..<end]))
      let rest = text[text.index(after: end)...]
      if rest.isEmpty { return }
      guard rest.hasPrefix(":") else {
        throw ValueError("\(quoted(text)) has something other than a port behind the bracket; write [2001:db8::1]:443")
      }
      port = try PortText.parse(String(rest.dropFirst()), lowest: lowest)
      return
    }
    let colons = text.utf8.count { $0 == UInt8(ascii: ":") }
    if colons > 1 {
      host = .ipv6(text)
    } else if let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) {
      host = .other(String(text[..<colon]))
      port = try PortText.parse(String(text[text.utf8.index(after: colon)...]), lowest: lowest)
    } else {
      host = .other(text)
    }
  }
}

/// Ports as text.
enum PortText {
  static func parse(_ text: String, lowest: Int = 1) throws(ValueError) -> UInt16 {
    guard !text.isEmpty else { throw ValueError("the port is missing behind the colon; write one such as 443") }
    guard text.utf8.allSatisfy({ (48...57).contains($0) }) else {
      throw ValueError("\(quoted(text)) is not a port; write a number from 1 to 65535")
    }
    if text.utf8.count > 1, text.hasPrefix("0") {
      throw ValueError("\(quoted(text)) is ambiguous as a port; leave the leading zero out")
    }
    guard let port = UInt16(text), Int(port) >= lowest else {
      throw ValueError("\(quoted(text)) is not a port; ports are 1 to 65535")
    }
    return port
  }
}
