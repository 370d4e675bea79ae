internal import ReachCore
internal import ReachIO

extension LinkMonitor {
  /// Judges the interface and keeps the finding until something changes that it rests on.
  func judge(_ index: Int32) -> LinkFinding? {
    guard
      let (link, classifier) = state.withState({ state -> (LinkAttributes, LinkClassifier)? in
        guard let link = state.core.table.links[index] else { return nil }
        return (link, LinkClassifier(links: state.core.table.links, wwanInterfaces: state.wwanInterfaces))
      })
    else { return nil }
    let finding = classifier.finding(of: link, underlay: underlay(of: link, classifier, depth: 4))
    state.withState { $0.findings[index] = finding }
    return finding
  }

  /// What carries the tunnel's own packets: the egress interface of the route to its far end, looked up with the mark
  /// and the interface the tunnel itself uses. nil when the far end is not known, as it is not for kind `wireguard`,
  /// whose ends are not told over rtnetlink.
  private func underlay(of link: LinkAttributes, _ classifier: LinkClassifier, depth: Int) -> LinkFinding.Underlay? {
    guard let tunnel = link.tunnel else { return nil }
    let query = RouteQuery(
      destination: tunnel.remote, source: tunnel.local, outputInterface: tunnel.outputInterface,
      mark: tunnel.mark == 0 ? nil : tunnel.mark, isFIBMatch: tunnel.outputInterface != 0)
    switch session.lookup(query) {
    case .fault: return nil
    case .refused: return .down
    case .route(let route):
      let egress = route.outputInterface != 0 ? route.outputInterface : route.legs.first?.interfaceIndex ?? 0
      // A tunnel whose packets are routed into itself carries nothing.
      guard egress != link.index, depth > 0, let lower = classifier.links[egress] else { return .down }
      guard LinkClassifier.state(of: lower) == .usable else { return .down }
      if classifier.medium(of: lower) == .wwan { return .cellular }
      return underlay(of: lower, classifier, depth: depth - 1) ?? .usable
    }
  }
}
