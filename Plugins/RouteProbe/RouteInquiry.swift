internal import Glibc
internal import ReachCore
internal import ReachNetlink

/// The questions that one round asks the kernel about one target, all with the same source, interface and mark.
///
/// Findings on the kernel's answers that shape it (K1, K2, … are those of the Linux mapping):
/// - IPv4 is asked for the matching entry of the table (RTM_F_FIB_MATCH). Asked for the resolved route, the kernel
///   takes any destination for on-link once an interface is named and nothing matches (K2), and hides the other next
///   hops of a multipath route (K12). The resolved route is asked for as well where the entry leaves open what the
///   packet's source would be or which next hop it would take.
/// - IPv6 is asked for the resolved route: strict about the interface as long as no source is named, and with the
///   source that would be chosen. The entry is asked for to see the other next hops.
struct RouteInquiry<Tables: KernelTables> {
  /// Whether only a route that a default route would give counts.
  var isDefaultPath = false
  /// Whether a connection to the address has just waited in vain. A neighbour that is being asked for then has had all
  /// that time to answer.
  var isAfterSilence = false
  /// Whether 169.254.0.0 is asked about for the sake of its whole network.
  var isLinkLocal = false
  /// The source that the packet is to have, where the target says one.
  private(set) var source: IPAddress?

  let tables: Tables
  private let mark: UInt32?
  /// The port that a connection would go to, where there is to be one.
  private let tcpPort: UInt16?
  private var scope = LookupScope.none
  var isSourceKnownLocal = false

  init(_ tables: Tables, source binding: SourceBinding, tcpPort: UInt16? = nil) {
    self.tables = tables
    self.tcpPort = tcpPort
    source = binding.address
    mark = binding.mark
    if let name = binding.interface { scope(to: name) }
  }

  /// Asks with that interface from now on (SO_BINDTODEVICE, socket(7)).
  mutating func scope(to interface: String) { scope = scope(named: interface) }

  /// Asks with that source from now on, which has been found to be this host's own.
  mutating func bind(toOwn address: IPAddress) {
    source = address
    isSourceKnownLocal = true
  }

  /// Whether the address is one of this host's own: on whatever interface, or within the VRF that is asked about.
  func locality(of address: IPAddress) -> Locality {
    var query = RouteQuery(destination: address, mark: mark)
    let anywhere = Locality(tables.lookup(query))
    guard anywhere == .foreign, case .interface(let index) = scope else { return anywhere }
    query.outputInterface = index
    return Locality(tables.lookup(query))
  }

  /// What the kernel would do with a packet for that address.
  mutating func finding(for address: IPAddress?) -> RouteFinding {
    guard let address else { return RouteFinding(.fault(FaultCode(errno: EINVAL))) }
    guard let oif = outputInterface(for: address) else { return RouteFinding(.refused(.scopeNoDevice)) }
    guard isAskable(address, oif) else { return RouteFinding(.refused(oif != 0 ? .scopeNoRoute : .noRoute)) }
    let query = RouteQuery(
      destination: address, source: source, outputInterface: oif, mark: mark, tcpPort: tcpPort)
    var finding =
      switch address.family {
      case .ipv4: findingIPv4(query)
      case .ipv6: findingIPv6(query)
      }
    finding.isNeighbourFailed = hasNextHopFailed(finding, address)
    return finding
  }

  /// Whether the next hop was asked for by ARP or neighbour discovery, for whatever traffic, and did not answer. The
  /// address that stands for a default path is no next hop.
  private func hasNextHopFailed(_ finding: RouteFinding, _ address: IPAddress) -> Bool {
    guard finding.decision == .unicast, let hop = finding.gateway ?? (isDefaultPath ? nil : address) else {
      return false
    }
    return tables.hasFailed(neighbour: hop, on: finding.interfaceIndex, orUnanswered: isAfterSilence)
  }

  // MARK: What is asked

  private func scope(named name: String) -> LookupScope {
    tables.interfaceIndex(named: name).map { .interface($0) } ?? .missing
  }

  /// The interface that a packet for the address is bound to, 0 for none; nil when there is no such interface.
  private func outputInterface(for address: IPAddress) -> Int32? {
    switch scope {
    case .missing: return nil
    case .interface(let index): return index
    case .none:
      guard let zone = address.zone else { return 0 }
      if let index = Int32(zone), index > 0 { return index }
      if case .interface(let index) = scope(named: zone) { return index }
      return nil
    }
  }

  /// Whether the kernel's answer means anything for a connection. To a group, to everybody and to nobody there is none,
  /// whatever the tables say (K1); nor to a link-local address without a link (K15) or on another than the one that
  /// the socket is bound to; nor from a source of the other family.
  private func isAskable(_ address: IPAddress, _ oif: Int32) -> Bool {
    if let source, source.family != address.family { return false }
    if address.isUnspecified { return isDefaultPath && address.family == .ipv6 }
    if address.isMulticast || address.isBroadcast { return false }
    guard address.family == .ipv6, address.isLinkLocal else { return true }
    guard oif != 0 else { return false }
    guard scope != .none, let zone = address.zone else { return true }
    return Int32(zone) == oif || scope(named: zone) == scope
  }
}

/// The interface that lookups are bound to.
private enum LookupScope: Hashable {
  case none
  case interface(Int32)
  case missing
}

/// Whether an address is this host's own, as far as the kernel says.
enum Locality: Hashable {
  case local
  case foreign
  case fault(FaultCode)

  /// What the answer to a lookup of the address says of it.
  init(_ answer: RouteAnswer) {
    switch answer {
    case .route(let message): self = message.isLocal ? .local : .foreign
    case .refused(let code):
      self = Reason(routeError: code, family: .ipv6, isScoped: false) == nil ? .fault(code) : .foreign
    case .fault(let code): self = .fault(code)
    }
  }
}
