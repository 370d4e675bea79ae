internal import ReachCore

/// The short form of a target: `example.com`, `example.com:443`, `192.0.2.1`, `[2001:db8::1]:443` or `default`.
struct TargetText {
  var kind: Target.Kind
  var port: UInt16?
  /// Whether the name ends in a dot, so that no search list may be used.
  var isAbsolute = false

  init(_ text: String) throws(ValueError) {
    if text.isEmpty { throw ValueError("a target is empty; write a host or an address, such as example.com:443") }
    if text.hasScheme {
      throw ValueError("\(quoted(text)) is a URL; write its host and port, such as example.com:443")
    }
    if text == "default" {
      kind = .defaultPath
      return
    }
    let endpoint = try EndpointText(text)
    port = endpoint.port
    switch endpoint.host {
    case .ipv6(let host):
      // With the brackets kept, an address that could also be read as one with a port is clear.
      kind = .address(try AddressText.parseTarget(text.hasPrefix("[") ? "[\(host)]" : host))
    case .other(let host):
      if host.isEmpty { throw ValueError("\(quoted(text)) has no host before the colon; write one") }
      if host == "default" {
        throw ValueError("'default' has no port, since nothing is sent; for a host of that name use 'host: default'")
      }
      if IPAddress.looksNumeric(host) {
        kind = .address(try AddressText.parseTarget(host))
      } else {
        kind = .host(try HostName(parsing: host))
        isAbsolute = host.hasSuffix(".")
      }
    }
  }
}

extension Target.Kind {
  /// The text that names such a target when it is given no name.
  func name(port: UInt16?) -> String {
    let suffix = port.map { ":\($0)" } ?? ""
    return switch self {
    case .host(let name): name.display + suffix
    case .address(let address):
      port != nil && address.family == .ipv6 ? "[\(address)]\(suffix)" : "\(address)\(suffix)"
    case .pair(let local, let remote): "\(local)->\(Target.Kind.address(remote).name(port: port))"
    case .defaultPath: "default"
    case .linkLocal(let interface): "link_local:\(interface)"
    case .interface(let interface): "interface:\(interface)"
    }
  }
}
