internal import Glibc
internal import ReachCore
internal import ReachNetlink

/// The numbers of rtnetlink(7) and of the kernel that the probe judges by.
enum RouteType {
  // rtm_type (linux/rtnetlink.h).
  static let unicast: UInt8 = 1
  static let local: UInt8 = 2
  static let broadcast: UInt8 = 3
  static let anycast: UInt8 = 4
  static let blackhole: UInt8 = 6
  static let unreachable: UInt8 = 7
  static let prohibit: UInt8 = 8

  /// RT_TABLE_LOCAL.
  static let localTable: UInt32 = 255
  /// The index of `lo` in every network namespace (LOOPBACK_IFINDEX of the kernel).
  static let loopbackIndex: Int32 = 1
}

extension Reason {
  /// Why a route of that type takes no connection; nil when it does.
  ///
  /// To a broadcast or multicast address connect(2) finds no route. An anycast address is one of this host's networks'.
  init?(routeType type: UInt8, isScoped: Bool) {
    switch type {
    case RouteType.unicast, RouteType.local, RouteType.anycast: return nil
    case RouteType.blackhole: self = .routeBlackhole
    case RouteType.unreachable: self = .routeUnreachable
    case RouteType.prohibit: self = .routeProhibit
    default: self = isScoped ? .scopeNoRoute : .noRoute
    }
  }

  /// What the kernel's decision, an errno, says of the routes (K3); nil when it says something of this host instead.
  ///
  /// With an interface named, IPv4 knows one refusal only: EHOSTUNREACH, that nothing matches over it. A blackhole or
  /// its like is passed over then, by the lookup and by a bound socket alike. A host without IPv6 answers EAFNOSUPPORT
  /// or EOPNOTSUPP: it has no route there.
  init?(routeError code: FaultCode, family: IPAddress.Family, isScoped: Bool) {
    switch code.errno {
    case ENETUNREACH, ENETDOWN, EAFNOSUPPORT, EOPNOTSUPP: self = isScoped ? .scopeNoRoute : .noRoute
    case EHOSTUNREACH: self = isScoped && family == .ipv4 ? .scopeNoRoute : .routeUnreachable
    case EACCES: self = .routeProhibit
    case EINVAL: self = .routeBlackhole
    case ENODEV: self = .scopeNoDevice
    default: return nil
    }
  }
}

extension RouteMessage {
  /// Whether the destination is one of this host's own addresses.
  var isLocal: Bool { type == RouteType.local }
}
