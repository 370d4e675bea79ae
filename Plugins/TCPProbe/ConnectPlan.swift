internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachNetlink

/// Which candidates are connected to and how: decided before any socket is opened.
struct ConnectPlan {
  /// One connection to make.
  struct Entry: Hashable {
    /// The candidate's place in the context, which is its finding's place too.
    let index: Int
    let peer: SocketAddress
    /// What the route probe made of the peer, as far as it matters here.
    let route: Route
  }

  /// What is known of the way to a peer.
  enum Route: Hashable {
    /// This host's own address: the connection comes to its end within connect(2), and may be to itself.
    case local
    /// The kernel would send it out.
    case leaving
    /// Nobody has looked.
    case unknown
  }

  /// What the sockets are bound to.
  struct Binding: Hashable {
    var interface: String?
    var address: SocketAddress?
    var mark: UInt32?
    var isEmpty: Bool { interface == nil && address == nil && mark == nil }
  }

  let binding: Binding
  private(set) var entries: [Entry] = []
  /// One for every candidate: what is certain without trying, `.notRun` for the rest.
  private(set) var findings: [TCPFinding]

  init(target: Target, port: UInt16, candidates: [Candidate], links: LinkMonitor) {
    findings = [TCPFinding](repeating: TCPFinding(.notRun), count: candidates.count)
    let source = Self.source(of: target)
    binding = Binding(
      interface: target.source.interface,
      address: source.map { SocketAddress($0, port: 0, scope: Self.scope(of: $0, links) ?? 0) },
      mark: target.source.mark)
    // Their candidates stand for a path or an interface: nothing is ever sent there.
    switch target.kind {
    case .defaultPath, .interface, .linkLocal: return
    case .host, .address, .pair: break
    }
    entries.reserveCapacity(candidates.count)
    for (index, candidate) in candidates.enumerated() {
      guard candidate.role == .target, let address = candidate.address, Self.isWorthTrying(candidate) else { continue }
      if let source, source.family != address.family { continue }
      if address.isUnspecified {
        // Linux takes it for this host itself, which would make a name that a filtering resolver blocks look open.
        findings[index].result = .failed(.tcpHostUnreachable)
        continue
      }
      guard let scope = Self.scope(of: address, links) else {
        findings[index].result = .refusedLocally(FaultCode(errno: ENODEV))
        continue
      }
      let peer = SocketAddress(address, port: port, scope: scope)
      entries.append(Entry(index: index, peer: peer, route: Self.route(to: address, candidate.route)))
    }
  }

  /// Connecting where the kernel would not send, or over a link that carries nothing, adds only symptoms.
  private static func isWorthTrying(_ candidate: Candidate) -> Bool {
    if let route = candidate.route, !route.isRoutable { return false }
    if let link = candidate.link, link.state != .usable { return false }
    return true
  }

  private static func route(to address: IPAddress, _ finding: RouteFinding?) -> Route {
    guard let finding else { return address.isLoopback ? .local : .unknown }
    return finding.decision == .local ? .local : .leaving
  }

  /// The address to bind to: the one the target names, or else the local half of a pair.
  private static func source(of target: Target) -> IPAddress? {
    if let address = target.source.address { return address }
    if case .pair(let local, _) = target.kind { return local }
    return nil
  }

  /// The zone as sin6_scope_id: 0 without one, nil for one that is no interface of this host.
  private static func scope(of address: IPAddress, _ links: LinkMonitor) -> UInt32? {
    guard let zone = address.zone else { return 0 }
    let known = links.finding(named: zone).index
    if known > 0 { return UInt32(known) }
    if let number = UInt32(zone) { return number }
    let index = unsafe if_nametoindex(zone)
    return index == 0 ? nil : index
  }
}
