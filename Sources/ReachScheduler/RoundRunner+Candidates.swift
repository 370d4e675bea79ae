internal import ReachCore

extension RoundRunner {
  /// The ways to a target of which nothing has been seen but what resolution said of its name; none for a name that has
  /// not been resolved.
  static func candidates(
    of kind: Target.Kind, resolved dns: DNSFinding? = nil, defaultPath: [IPAddress]
  ) -> [Candidate] {
    switch kind {
    case .host: dns.map { candidates(resolvedTo: $0, defaultPath: defaultPath) } ?? []
    case .address(let address): [Candidate(address)]
    case .pair(_, let remote): [Candidate(remote)]
    case .linkLocal: [Candidate(IPAddress(ipv4: 0xa9fe_0000))]
    case .interface: [Candidate(nil)]
    case .defaultPath: self.defaultPath(defaultPath, role: .target)
    }
  }

  /// The addresses that a name has. When the resolver gave none, the way to it is looked at instead, so that a broken
  /// path is named rather than its symptom (semantics, section 4.4).
  private static func candidates(resolvedTo dns: DNSFinding, defaultPath: [IPAddress]) -> [Candidate] {
    if !dns.addresses.isEmpty { return dns.addresses.prefix(addressLimit).map { Candidate($0) } }
    return dns.isFinal ? [] : resolverPath(dns.servers, defaultPath: defaultPath)
  }

  /// More addresses of one name than this are not looked at.
  static let addressLimit = 64

  /// The way to the resolver: to the servers that were asked. A resolver on this very host, such as 127.0.0.53, says
  /// nothing of the path, and where none is known there is nothing else to ask: the default path stands for both.
  private static func resolverPath(_ servers: [IPAddress], defaultPath: [IPAddress]) -> [Candidate] {
    guard let first = servers.first, !first.isLoopback else {
      return self.defaultPath(defaultPath, role: .resolverPath)
    }
    return servers.prefix(3).filter { !$0.isLoopback }.map { Candidate($0, role: .resolverPath) }
  }

  /// The default path: the representatives of the IPv4 halves, since the kernel takes 0.0.0.0 for this host, then `::`.
  /// IPv4 comes first because the first of equals wins (semantics, section 4.3).
  private static func defaultPath(_ representatives: [IPAddress], role: Candidate.Role) -> [Candidate] {
    representatives.prefix(16).map { Candidate($0, role: role) } + [
      Candidate(IPAddress(ipv6High: 0, low: 0), role: role)
    ]
  }
}

extension DNSFinding {
  /// Whether no address is to be had and the path is not to blame: the name has none, or this host could not ask.
  var isFinal: Bool {
    guard addresses.isEmpty else { return false }
    return switch result {
    case .failed(.dnsNXDomain), .failed(.dnsNoData), .fault: true
    case .failed, .resolved: false
    }
  }
}
