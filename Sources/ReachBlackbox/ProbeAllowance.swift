public import ReachConfig
public import ReachCore

/// Decides what `/probe` may be asked for, so that whoever reaches the endpoint cannot have this host connect to anything
/// it likes. A plain value.
///
/// The declared targets are always allowed, everything else only by a rule of `probe_allow`. A name is checked before
/// anybody is asked for its addresses, and each of those before anything is sent to it. Link-local addresses, where clouds
/// serve their machines' secrets, and this host's own loopback are never reached through a name or a wide rule.
public struct ProbeAllowance: Sendable {
  /// Why a target may be probed.
  public enum Grant: Hashable, Sendable {
    /// It is declared.
    case declared
    /// A rule says so.
    case rule
  }

  /// That it may not be.
  public struct Refusal: Error, Hashable, Sendable, CustomStringConvertible {
    /// For people: what is not allowed, and what would allow it.
    public let description: String
  }

  private struct Place: Hashable {
    let host: String
    let port: UInt16?
  }

  private let rules: [AllowRule]
  private let declared: Set<Place>

  /// What these rules and these targets allow.
  public init(rules: [AllowRule], declared targets: some Sequence<Target>) {
    self.rules = rules
    var declared: Set<Place> = []
    for target in targets {
      guard let host = Self.host(of: target.kind) else { continue }
      declared.insert(Place(host: host, port: target.port))
    }
    self.declared = declared
  }

  private static func host(of kind: Target.Kind) -> String? {
    switch kind {
    case .host(let name): name.query
    case .address(let address): "\(address)"
    case .pair(_, let remote): "\(remote)"
    case .defaultPath, .linkLocal, .interface: nil
    }
  }

  /// Whether a target may be probed at this port, as far as can be told without its addresses.
  public func grant(_ target: Target, port: UInt16?) throws(Refusal) -> Grant {
    if let host = Self.host(of: target.kind),
      isDeclared(host, port: port)
    {
      return .declared
    }
    switch target.kind {
    case .host(let name):
      guard rules.contains(where: { $0.covers(name) }) else {
        throw Refusal(
          description: "\(target.name) is neither a declared target nor allowed; to allow it, add "
            + "'\(name.display)' or '*.' with the name above it to 'probe_allow'")
      }
    case .address(let address):
      guard rules.contains(where: { $0.covers(address) }) else {
        throw Refusal(
          description: "\(target.name) is neither a declared target nor allowed; to allow it, add '\(address)' or "
            + "a network that it is in to 'probe_allow'")
      }
      try check(address, port: port, under: .rule)
    case .pair, .defaultPath, .linkLocal, .interface: break
    }
    return .rule
  }

  /// A target without a port is the whole host.
  private func isDeclared(_ host: String, port: UInt16?) -> Bool {
    declared.contains(Place(host: host, port: port)) || declared.contains(Place(host: host, port: nil))
  }

  private func isNamedLocalhost(_ name: HostName) -> Bool {
    name.isLocalhost
      && rules.contains { rule in
        switch rule {
        case .name, .subdomains: rule.covers(name)
        case .any, .network: false
        }
      }
  }

  /// Whether something may be sent to this port of this address, which is one of a name's that may be probed, or the target
  /// itself.
  public func check(
    _ address: IPAddress, port: UInt16?, under grant: Grant, of name: HostName? = nil
  ) throws(Refusal) {
    for address in [address] + address.embedded {
      guard let space = Space(of: address) else { continue }
      if rules.contains(where: { $0.names(address, in: space) }) { continue }
      if isDeclared("\(address)", port: port) { continue }
      // The agent probes what is declared anyway, and a name below localhost has no other address (RFC 6761): a rule with
      // that name means it.
      if space == .loopback, grant == .declared || name.map(isNamedLocalhost) == true { continue }
      throw Refusal(
        description:
          "\(name.map { "\($0.display) has the address \(address), which" } ?? "\(address)") is \(space.words);"
          + " to allow it, add '\(address)' itself to 'probe_allow'")
    }
  }
}

/// A range of addresses with a meaning of its own to this host or its cloud.
private enum Space: Hashable {
  case linkLocal
  case metadata
  case loopback
  case nobody

  init?(of address: IPAddress) {
    if address.isLinkLocal {
      self = .linkLocal
    } else if Self.isMetadata(address) {
      self = .metadata
    } else if address.family == .ipv6, address.high >> 54 == 0xfec0 >> 6 {
      // Site-local, long deprecated (RFC 3879): nobody means it.
      self = .linkLocal
    } else if address.isLoopback {
      self = .loopback
    } else if address.isUnspecified || address.isMulticast || address.isBroadcast {
      self = .nobody
    } else {
      return nil
    }
  }

  /// Where clouds serve what only the machine itself should read, beside link-local addresses: Amazon's and Google's over
  /// IPv6, Alibaba's and Oracle's.
  private static func isMetadata(_ address: IPAddress) -> Bool {
    switch address.family {
    case .ipv6: address.high == 0xfd00_0ec2_0000_0000 || address.high == 0xfd20_00ce_0000_0000
    case .ipv4: address.low == 0x6464_64c8 || address.low == 0xc000_00c0
    }
  }

  var words: String {
    switch self {
    case .linkLocal: "link-local, where clouds serve what only the machine itself should read"
    case .metadata: "where a cloud serves what only the machine itself should read"
    case .loopback: "this host's own loopback"
    case .nobody: "the address of no single host"
    }
  }

  /// The fewest bits that a rule must name to mean this range and not what happens to hold it.
  func leastPrefix(_ family: IPAddress.Family) -> Int {
    switch (self, family) {
    case (.linkLocal, .ipv4): 16
    case (.linkLocal, .ipv6): 10
    case (.metadata, .ipv4): 32
    case (.metadata, .ipv6): 64
    case (.loopback, .ipv4): 8
    case (.loopback, .ipv6): 128
    case (.nobody, _): .max
    }
  }
}

extension AllowRule {
  fileprivate func covers(_ name: HostName) -> Bool {
    switch self {
    case .any: true
    case .name(let own): own.query == name.query
    case .subdomains(let parent): name.query.hasSuffix("." + parent.query)
    case .network: false
    }
  }

  fileprivate func covers(_ address: IPAddress) -> Bool {
    switch self {
    case .any: true
    case .network(let network, let prefix):
      network.family == address.family && address.scoped(to: nil).masked(to: prefix) == network.scoped(to: nil)
        && (network.zone == nil || network.zone == address.zone)
    case .name, .subdomains: false
    }
  }

  fileprivate func names(_ address: IPAddress, in space: Space) -> Bool {
    guard case .network(_, let prefix) = self else { return false }
    return prefix >= space.leastPrefix(address.family) && covers(address)
  }
}

extension HostName {
  fileprivate var isLocalhost: Bool { query == "localhost" || query.hasSuffix(".localhost") }
}

extension IPAddress {
  /// The IPv4 addresses that a translator or a tunnel on the way may make of this one: NAT64 (RFC 6052, RFC 8215), 6to4
  /// (RFC 3056), Teredo (RFC 4380), stateless translation (RFC 2765) and compatible addresses (RFC 4291).
  fileprivate var embedded: [IPAddress] {
    guard family == .ipv6 else { return [] }
    let last = IPAddress(ipv4: UInt32(truncatingIfNeeded: low))
    if high == 0x0064_ff9b_0000_0000, low >> 32 == 0 { return [last] }
    if high >> 16 == 0x0064_ff9b_0001 { return [last] }
    if high == 0, low >> 32 == 0, low > 1 { return [last] }
    if high == 0, low >> 32 == 0xffff_0000 { return [last] }
    if high >> 48 == 0x2002 { return [IPAddress(ipv4: UInt32(truncatingIfNeeded: high >> 16))] }
    if high >> 32 == 0x2001_0000 {
      return [IPAddress(ipv4: UInt32(truncatingIfNeeded: high)), IPAddress(ipv4: ~UInt32(truncatingIfNeeded: low))]
    }
    return []
  }
}
