public import ReachCore

/// Where the agent's pages are served.
public enum ListenAddress: Hashable, Sendable, CustomStringConvertible {
  /// A TCP port; without an address, on every address of both families. Port 0 is one that the kernel chooses.
  case tcp(address: IPAddress?, port: UInt16)
  /// A Unix stream socket with this absolute path (unix(7)).
  case unix(path: String)

  /// Reads `ADDRESS:PORT`, `[v6]:PORT`, `:PORT`, `localhost:PORT` or `unix:/PATH`.
  ///
  /// Names other than localhost are refused: what they stand for could change under the agent.
  public init(parsing text: String) throws(ValueError) {
    if text.hasPrefix("unix:") {
      let path = String(text.dropFirst(5))
      guard path.hasPrefix("/"), !path.hasSuffix("/") else {
        throw ValueError("\(quoted(text)) has no absolute path; write unix:/run/reachd/reachd.sock")
      }
      // sockaddr_un has 108 octets, one of them for the end.
      guard path.utf8.count <= 107, !path.utf8.contains(0) else {
        throw ValueError("\(quoted(text)) has a path longer than the 107 octets of a socket's path")
      }
      self = .unix(path: path)
      return
    }
    if text.hasScheme {
      throw ValueError("\(quoted(text)) is a URL; write an address and a port, such as 127.0.0.1:10120")
    }
    let endpoint = try EndpointText(text, lowest: 0)
    guard let port = endpoint.port else {
      if case .ipv6 = endpoint.host {
        throw ValueError("\(quoted(text)) has no port; write an IPv6 address in brackets, such as [::1]:10120")
      }
      throw ValueError("\(quoted(text)) has no port; write an address and a port, such as 127.0.0.1:10120")
    }
    switch endpoint.host {
    case .ipv6(let host): self = .tcp(address: try AddressText.parse("[\(host)]"), port: port)
    case .other(""), .other("*"): self = .tcp(address: nil, port: port)
    case .other("localhost"): self = .tcp(address: IPAddress(ipv4: 0x7f00_0001), port: port)
    case .other(let host):
      guard IPAddress.looksNumeric(host) else {
        throw ValueError("\(quoted(text)) listens at a name; write an address, such as 127.0.0.1:\(port)")
      }
      self = .tcp(address: try AddressText.parse(host), port: port)
    }
    if case .tcp(let address?, _) = self, address.isMulticast || address.isBroadcast {
      throw ValueError("\(quoted(text)) listens at an address of no single host; write one of this host's")
    }
  }

  /// The address as it is written in the configuration.
  public var description: String {
    switch self {
    case .tcp(nil, let port): ":\(port)"
    case .tcp(let address?, let port): Target.Kind.address(address).name(port: port)
    case .unix(let path): "unix:\(path)"
    }
  }
}
