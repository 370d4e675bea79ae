internal import Glibc
internal import ReachCore
internal import ReachNetlink

/// The lookups of each family, and what is made of their answers.
extension RouteInquiry {
  // MARK: IPv4

  mutating func findingIPv4(_ query: RouteQuery) -> RouteFinding {
    var entryQuery = query
    entryQuery.isFIBMatch = true
    let entry: RouteMessage
    switch tables.lookup(entryQuery) {
    case .route(let message): entry = message
    case let answer: return failure(answer, query)
    }
    if let refusal = refusal(of: entry, query) ?? specificity(of: entry, query) { return refusal }
    let legs = legs(of: entry, query)
    // The entry of an own address names the interface that has it, or a VRF's table; the packet goes over loopback.
    if entry.isLocal, entry.table == RouteType.localTable {
      return finding(from: entry, via: RouteType.loopbackIndex, entry.preferredSource ?? query.destination)
    }
    if legs.isEmpty, !entry.isLocal, let source = source ?? entry.preferredSource {
      return finding(from: entry, via: entry.outputInterface, source)
    }
    switch tables.lookup(query) {
    case .route(let first):
      let resolved = legs.isEmpty ? first : asConnected(query, first)
      var finding = finding(from: resolved, via: resolved.outputInterface, source ?? first.preferredSource)
      take(legs, into: &finding, .ipv4)
      return finding
    case let answer: return failure(answer, query)
    }
  }

  // MARK: IPv6

  mutating func findingIPv6(_ query: RouteQuery) -> RouteFinding {
    var query = query
    var answer = tables.lookup(query)
    if query.source != nil, query.outputInterface != 0, case .route(let message) = answer,
      message.outputInterface != query.outputInterface
    {
      // With a source the interface is a wish to the kernel, without one it is an order, as it is to a bound socket.
      query.source = nil
      answer = tables.lookup(query)
    }
    guard case .route(let resolved) = answer else { return failure(answer, query) }
    // The kernel looks up for any source; it is bind(2) that refuses one that is not this host's.
    if let failure = sourceFailure() { return failure }
    if resolved.isLocal {
      return finding(from: resolved, via: resolved.outputInterface, resolved.preferredSource ?? query.destination)
    }
    if let refusal = refusal(of: resolved, query) { return refusal }
    var finding = finding(from: resolved, via: resolved.outputInterface, source ?? resolved.preferredSource)
    var entryQuery = query
    entryQuery.isFIBMatch = true
    if case .route(let entry) = tables.lookup(entryQuery) {
      if let refusal = specificity(of: entry, query) { return refusal }
      take(legs(of: entry, query), into: &finding, .ipv6)
    }
    return finding
  }

  // MARK: What is made of an answer

  /// What an answer without a route comes to.
  private mutating func failure(_ answer: RouteAnswer, _ query: RouteQuery) -> RouteFinding {
    // IPv4 checks the source itself, which the session tells apart from a missing route. IPv6 does not.
    if query.destination.family == .ipv6, let failure = sourceFailure() { return failure }
    switch answer {
    case .route: return RouteFinding(.fault(FaultCode(errno: EINVAL)))
    case .refused(let code):
      let isScoped = query.outputInterface != 0
      let reason = Reason(routeError: code, family: query.destination.family, isScoped: isScoped)
      return RouteFinding(reason.map { .refused($0) } ?? .fault(code))
    case .fault(let code):
      let isForeign = code.errno == EADDRNOTAVAIL && source != nil
      return RouteFinding(isForeign ? .refused(.localAddressMissing) : .fault(code))
    }
  }

  /// What is wrong with the source that the target names; nil when it is this host's own, or none is named.
  private mutating func sourceFailure() -> RouteFinding? {
    guard let source, !isSourceKnownLocal else { return nil }
    switch locality(of: source) {
    case .local:
      isSourceKnownLocal = true
      return nil
    case .foreign:
      // It is about to become usable, as bind(2) will say: that is no verdict yet.
      if tables.isTentative(source) { return RouteFinding(.fault(FaultCode(errno: EADDRNOTAVAIL))) }
      return RouteFinding(.refused(.localAddressMissing))
    case .fault(let code): return RouteFinding(.fault(code))
    }
  }

  /// The refusal that a route amounts to by its type; nil for one that a connection can take.
  private func refusal(of route: RouteMessage, _ query: RouteQuery) -> RouteFinding? {
    // Before Linux 5.14 a network's first address was a broadcast address too.
    if isLinkLocal, route.type == RouteType.broadcast { return nil }
    return Reason(routeType: route.type, isScoped: query.outputInterface != 0).map { RouteFinding(.refused($0)) }
  }

  /// That a table's entry is no default route, where one is asked for: half the space is what each part of a split
  /// default covers (K22), and what is longer tells nothing of the rest of the space.
  private func specificity(of entry: RouteMessage, _ query: RouteQuery) -> RouteFinding? {
    guard isDefaultPath, entry.prefixLength > 1 else { return nil }
    return RouteFinding(.refused(query.outputInterface != 0 ? .scopeNoRoute : .noRoute))
  }

  /// The next hops of a multipath route that a packet may take: all, or those over the interface that was asked for.
  private func legs(of entry: RouteMessage, _ query: RouteQuery) -> [RouteFinding.Leg] {
    let legs =
      query.outputInterface == 0
      ? entry.legs : entry.legs.filter { $0.interfaceIndex == query.outputInterface }
    return legs.count > 1 ? legs : []
  }

  /// The answer to a connection's second question: connect(2) asks for a source first, then for the route from it, and
  /// the choice among several next hops looks at the source too.
  private func asConnected(_ query: RouteQuery, _ first: RouteMessage) -> RouteMessage {
    guard query.source == nil, let source = first.preferredSource else { return first }
    var bound = query
    bound.source = source
    guard case .route(let second) = tables.lookup(bound) else { return first }
    return second
  }

  /// Takes in the next hops of a route that has several, one of which the finding is about. Where the kernel chooses by
  /// addresses alone, every connection to this one takes that next hop, and the others are no concern of the target's.
  private func take(_ legs: [RouteFinding.Leg], into finding: inout RouteFinding, _ family: IPAddress.Family) {
    guard legs.count > 1 else { return }
    finding.isOnLink = legs.allSatisfy { $0.gateway == nil }
    if tables.spreadsConnections(family) { finding.legs = legs }
  }

  private func finding(from route: RouteMessage, via index: Int32, _ source: IPAddress?) -> RouteFinding {
    let gateway = route.gateway.flatMap { $0.isUnspecified ? nil : $0 }
    return RouteFinding(
      route.isLocal ? .local : .unicast, interfaceIndex: index,
      interface: tables.interfaceName(index), gateway: gateway, source: source,
      isOnLink: gateway == nil, table: route.table)
  }
}
