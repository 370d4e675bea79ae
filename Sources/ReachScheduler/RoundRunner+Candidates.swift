internal import ReachCore

extension RoundRunner {
  /// The ways to a target before any probe has run; none for a name, which has to be resolved first.
  static func candidates(of kind: Target.Kind, defaultPath: [IPAddress]) -> [Candidate] {
    switch kind {
    case .host: []
    case .address(let address): [Candidate(address)]
    case .pair(_, let remote): [Candidate(remote)]
    case .linkLocal: [Candidate(IPAddress(ipv4: 0xa9fe_0000))]
    case .interface: [Candidate(nil)]
    case .defaultPath: self.defaultPath(defaultPath, role: .target)
    }
  }

  /// The way to the resolver: to the servers that were asked. A resolver on this very host, such as 127.0.0.53, says
  /// nothing of the path, and where none is known there is nothing else to ask: the default path stands for both.
  static func resolverPath(_ servers: [IPAddress], defaultPath: [IPAddress]) -> [Candidate] {
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
