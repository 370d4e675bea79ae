internal import CReachLinux
public import ReachCore
internal import ReachIO

/// Whether a socket can be bound to an address: what the kernel knows of it as one of this host's own.
public enum OwnAddress: Hashable, Sendable {
  /// bind(2) takes it.
  case usable
  /// IPv6 still looks whether another host has it (duplicate address detection, RFC 4862 section 5.4); bind(2) refuses
  /// it with EADDRNOTAVAIL until that has ended.
  case tentative
  /// Another host has it (IFA_F_DADFAILED). It stays on its interface, and nothing can be bound to it.
  case duplicate
  /// It is not on any interface.
  case absent
}

extension NetlinkSession {
  /// What the kernel knows of an address as one of this host's own. One lookup tells of an address that is usable; where
  /// it does not, all addresses are read. `usable` where even that fails: bind(2) has the last word.
  public func ownAddress(_ address: IPAddress) -> OwnAddress {
    if case .route(let route) = lookup(RouteQuery(destination: address)), Int(route.type) == RTN_LOCAL {
      return .usable
    }
    // The address of an interface in a VRF is local only there.
    guard let addresses = try? addresses() else { return .usable }
    var state = OwnAddress.absent
    for own in addresses where own.address.hasSameOctets(as: address) {
      // A link-local address may be on several interfaces.
      if own.isUsable { return .usable }
      state = own.isDuplicate ? .duplicate : .tentative
    }
    return state
  }
}

extension AddressMessage {
  /// IFA_F_DADFAILED: duplicate address detection has found another host with it.
  public var isDuplicate: Bool { flags & UInt32(IFA_F_DADFAILED) != 0 }

  /// Whether bind(2) takes it. An optimistic address (RFC 4429) is used while it is looked at, a deprecated one as long
  /// as it is there.
  public var isUsable: Bool {
    if isDuplicate { return false }
    return flags & UInt32(IFA_F_TENTATIVE) == 0 || flags & UInt32(IFA_F_OPTIMISTIC) != 0
  }
}

extension IPAddress {
  fileprivate func hasSameOctets(as other: IPAddress) -> Bool {
    family == other.family && high == other.high && low == other.low
  }
}
