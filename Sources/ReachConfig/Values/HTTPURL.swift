public import ReachCore

/// An `http` or `https` URL (RFC 3986), taken apart. It holds no user and no password.
public struct HTTPURL: Hashable, Sendable {
  /// Whom it leads to.
  public enum Host: Hashable, Sendable {
    /// A name, in A-labels and lower case.
    case name(String)
    /// An address.
    case address(IPAddress)
  }

  /// Whether it is an `https` URL.
  public let isSecure: Bool
  /// Whom it leads to.
  public let host: Host
  /// The port: the one it names, or the scheme's own.
  public let port: UInt16
  /// The path, beginning with a slash.
  public let path: String
  /// What stands behind the question mark; nil without one.
  public let query: String?

  /// Reads a URL. The message of what is thrown shows no part of it in which a secret might be.
  public init(parsing text: String) throws(ValueError) {
    let scheme = text.prefix(8).lowercased()
    guard scheme.hasPrefix("http://") || scheme == "https://" else {
      throw ValueError("it is no http or https URL; write one such as http://sd.example/targets")
    }
    isSecure = scheme == "https://"
    guard text.utf8.count <= 2048, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) || $0 >= 0x80 }) else {
      throw ValueError("the URL holds white space or is longer than 2048 octets; percent-encode what is no URL's")
    }
    let rest = text.dropFirst(isSecure ? 8 : 7)
    let authority = rest.prefix { !"/?#".contains($0) }
    // Wherever it stands: what is before it may be a password with a slash in it, and no message may show that.
    guard !rest.prefix(while: { $0 != "?" }).contains("@") else {
      throw ValueError(
        "the URL holds a user or a password; write them under 'basic_auth', and an @ of the path as %40")
    }
    let tail = rest[authority.endIndex...]
    guard !tail.contains("#"), tail.utf8.allSatisfy({ $0 < 0x80 }) else {
      throw ValueError("the URL has a fragment or letters that are not ASCII; percent-encode them")
    }
    let endpoint = try EndpointText(String(authority))
    host = try Self.host(endpoint.host, in: String(authority))
    port = endpoint.port ?? (isSecure ? 443 : 80)
    let path = tail.prefix { $0 != "?" }
    self.path = path.isEmpty ? "/" : String(path)
    query = path.endIndex == tail.endIndex ? nil : String(tail[path.endIndex...].dropFirst())
  }

  private static func host(_ host: EndpointText.Host, in authority: String) throws(ValueError) -> Host {
    switch host {
    case .ipv6(let text):
      guard authority.hasPrefix("[") else {
        throw ValueError("\(quoted(authority)) is no host; write an IPv6 address in brackets, such as [2001:db8::1]")
      }
      let address = try AddressText.parse("[\(text)]")
      guard address.zone == nil else {
        throw ValueError("\(quoted(authority)) has a zone, which a URL cannot; write another address")
      }
      return .address(address)
    case .other(let text):
      if text.isEmpty { throw ValueError("the URL has no host; write one such as http://sd.example/targets") }
      if IPAddress.looksNumeric(text) { return .address(try AddressText.parse(text)) }
      return .name(try HostName(parsing: text).query)
    }
  }

  /// The host, in brackets where it is an IPv6 address.
  public var hostText: String {
    switch host {
    case .name(let name): name
    case .address(let address): address.family == .ipv6 ? "[\(address)]" : "\(address)"
    }
  }

  /// The whole URL.
  public var text: String { withoutQuery + (query.map { "?" + $0 } ?? "") }

  /// The URL as far as it may be shown to anybody: a query may hold a token.
  public var withoutQuery: String {
    let usual: UInt16 = isSecure ? 443 : 80
    return "\(isSecure ? "https" : "http")://\(hostText)\(port == usual ? "" : ":\(port)")\(path)"
  }

  /// The URL with every value of its query hidden.
  public var masked: String {
    guard let query else { return withoutQuery }
    let parts = query.split(separator: "&", omittingEmptySubsequences: false).map { part in
      part.contains("=") ? part.prefix { $0 != "=" } + "=hidden" : "hidden"
    }
    return withoutQuery + "?" + parts.joined(separator: "&")
  }

  /// Whether both lead to the same server, so that what one may be told, the other may.
  public func hasSameOrigin(as other: HTTPURL) -> Bool {
    isSecure == other.isSecure && host == other.host && port == other.port
  }
}
