internal import Glibc
public import ReachCore
internal import ReachIO
public import ReachProbe

/// Looks at what the kernel would do with a packet for the target: RTM_GETROUTE (rtnetlink(7)) with the very source,
/// interface and mark that the target's other probes bind to. No packet is sent.
///
/// A candidate costs one lookup, of a few microseconds, where one tells all, and never more than four. The kernel
/// answers within the call, so the probe never suspends and needs no deadline. While the kernel tells of no change, what
/// it said before is believed; a candidate that was looked at before in the same round is asked about anew.
public struct RouteProbe: ProbeBackend {
  /// What the plugin says of itself.
  public static let registration = Registration(
    name: "route", layer: .route, version: "0.1.0",
    summary: "what the kernel would do with a packet for the target; sends none", options: []
  ) { (_, host) throws(OptionError) in RouteProbe(RouteMemory(host)) }

  private let memory: RouteMemory?

  /// A probe that keeps nothing from one target or round to the next.
  public init() { memory = nil }

  /// A probe that asks again only when something has changed.
  init(_ memory: RouteMemory) { self.memory = memory }

  /// What the kernel would do for each candidate.
  ///
  /// Never throws: where a lookup fails for a reason of this host, that candidate's finding is the fault.
  public func probe(_ target: Target, in context: ProbeContext) async throws(LocalFault) -> Evidence {
    let findings = findings(for: target, in: context)
    if let log = context.log {
      for (candidate, finding) in zip(context.candidates, findings) { log.note(line(candidate, finding)) }
    }
    return .route(findings)
  }

  private func findings(for target: Target, in context: ProbeContext) -> [RouteFinding] {
    var inquiry = RouteInquiry(context.host, source: target.source, tcpPort: target.port)
    inquiry.isDefaultPath = Self.asksForDefaultPath(target, context.candidates)
    switch target.kind {
    case .pair(let local, _):
      switch inquiry.locality(of: local) {
      case .local: if inquiry.source == nil { inquiry.bind(toOwn: local) }
      case .foreign:
        let isTentative = local.family == .ipv6 && context.host.isTentative(local)
        let decision: RouteFinding.Decision =
          isTentative ? .fault(FaultCode(errno: EADDRNOTAVAIL)) : .refused(.localAddressMissing)
        return context.candidates.map { _ in RouteFinding(decision) }
      case .fault(let code): return context.candidates.map { _ in RouteFinding(.fault(code)) }
      }
    case .linkLocal(let interface):
      inquiry.isLinkLocal = true
      inquiry.scope(to: interface)
    case .host, .address, .defaultPath, .interface: break
    }
    guard let memory, target.source == SourceBinding(), target.kindName == "address" || target.kindName == "host" else {
      return context.candidates.map { candidate in
        inquiry.isAfterSilence = candidate.hasMetSilence
        return inquiry.finding(for: candidate.address)
      }
    }
    let now = context.host.loop.now()
    return context.candidates.map { candidate in
      guard let address = candidate.address, candidate.role == .target else {
        return inquiry.finding(for: candidate.address)
      }
      inquiry.isAfterSilence = candidate.hasMetSilence
      if candidate.route == nil, let known = memory.finding(for: address, port: target.port, at: now) { return known }
      let finding = inquiry.finding(for: address)
      memory.keep(finding, for: address, port: target.port, at: now)
      return finding
    }
  }

  /// Whether the candidates stand for the default path: those of a `default` target, or the stand-ins for the way to a
  /// resolver, among which `::` gives them away since no resolver has that address.
  private static func asksForDefaultPath(_ target: Target, _ candidates: [Candidate]) -> Bool {
    if target.kind == .defaultPath { return true }
    return candidates.contains { $0.role == .resolverPath && $0.address?.isUnspecified == true }
  }

  private func line(_ candidate: Candidate, _ finding: RouteFinding) -> String {
    var line = "route to \(candidate.address.map(\.description) ?? "nothing"): "
    switch finding.decision {
    case .unicast: line += finding.isOnLink ? "on-link" : "unicast"
    case .local: line += "local"
    case .refused(let reason): line += "refused, \(reason)"
    case .fault(let code): line += "lookup failed, \(code)"
    }
    if let gateway = finding.gateway { line += " via \(gateway)" }
    if finding.interfaceIndex != 0 {
      line += " dev \(finding.interface.isEmpty ? "#\(finding.interfaceIndex)" : finding.interface)"
    }
    if let source = finding.source { line += " src \(source)" }
    if let table = finding.table { line += " table \(table)" }
    if !finding.legs.isEmpty { line += ", one of \(finding.legs.count) next hops" }
    if finding.isNeighbourFailed { line += ", its neighbour does not answer" }
    return line
  }
}

extension Candidate {
  /// Whether a connection of this round has waited in vain; one of a round before comes without the route it took.
  fileprivate var hasMetSilence: Bool { route != nil && tcp?.result == .failed(.tcpTimeout) }
}
