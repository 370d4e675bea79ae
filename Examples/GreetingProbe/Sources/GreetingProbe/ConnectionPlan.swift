internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe

/// Which candidates are connected to, and from where: decided before any socket is opened.
struct ConnectionPlan {
  /// One connection to make.
  struct Attempt {
    /// The candidate's place, which is its finding's place too.
    let index: Int
    let peer: SocketAddress
  }

  private(set) var attempts: [Attempt] = []
  private(set) var source = Conversation.Source()

  init(to target: Target, port: UInt16, in context: ProbeContext) {
    let links = context.host.links
    var local = target.source.address
    switch target.kind {
    // Their candidates stand for a path or an interface: nothing is ever sent there.
    case .defaultPath, .interface, .linkLocal: return
    case .pair(let address, _): local = local ?? address
    case .host, .address: break
    }
    source.interface = target.source.interface
    source.mark = target.source.mark
    source.address = local.map { SocketAddress($0, port: 0, scope: Self.scope(of: $0, links) ?? 0) }
    for (index, candidate) in context.candidates.enumerated() {
      guard let address = candidate.address, Self.isWorthTrying(candidate) else { continue }
      // Linux takes 0.0.0.0 and :: for this host itself.
      if address.isUnspecified { continue }
      if let local, local.family != address.family { continue }
      guard let scope = Self.scope(of: address, links) else { continue }
      attempts.append(Attempt(index: index, peer: SocketAddress(address, port: port, scope: scope)))
    }
  }

  /// Connecting where the kernel would not send, or over a link that carries nothing, adds only symptoms.
  private static func isWorthTrying(_ candidate: Candidate) -> Bool {
    guard candidate.role == .target else { return false }
    if let route = candidate.route, !route.isRoutable { return false }
    if let link = candidate.link, link.state != .usable { return false }
    return true
  }

  /// The zone of a link-local address as the kernel counts it: 0 without one, nil for no interface of this host.
  private static func scope(of address: IPAddress, _ links: LinkMonitor) -> UInt32? {
    guard let zone = address.zone else { return 0 }
    if let number = UInt32(zone) { return number }
    let index = links.finding(named: zone).index
    return index > 0 ? UInt32(index) : nil
  }
}
