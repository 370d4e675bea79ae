internal import ReachCore

/// The interfaces that a route leaves by, and which of them speaks for it.
struct Egress {
  /// Their indices, in the order of the route's legs.
  let indices: [Int32]
  /// The route's own interface, for its name.
  private let named: (index: Int32, name: String)

  /// The egress of that route: of all its legs but those the kernel does not choose, or of the route as such.
  init(of route: RouteFinding) {
    named = (route.interfaceIndex, route.interface)
    guard route.isRoutable else {
      indices = []
      return
    }
    let alive = route.legs.filter { !$0.isDead }
    if !alive.isEmpty {
      indices = alive.map(\.interfaceIndex).filter { $0 > 0 }
    } else {
      indices = route.interfaceIndex > 0 ? [route.interfaceIndex] : []
    }
  }

  /// The finding that speaks for the route; nil when it leaves by no interface.
  ///
  /// Of several legs it is the worst that the kernel may still choose, the first of equals. A leg without carrier goes
  /// on being chosen, by a hash that differs from flow to flow, so the route works for some connections and fails for
  /// others: the better leg would hide that. A leg whose interface has been set down is not chosen, and counts only
  /// when all are. An index that the monitor does not know belongs to an interface that went away after the lookup.
  func finding(_ look: (Int32) -> LinkFinding?) -> LinkFinding? {
    let findings = indices.map { index in
      look(index)
        ?? LinkFinding(interface: index == named.index ? named.name : "", index: index, medium: .other, state: .missing)
    }
    let chosen = findings.filter { $0.state != .down }
    return (chosen.isEmpty ? findings : chosen).reduce(nil) { (worst: LinkFinding?, next: LinkFinding) in
      guard let worst else { return next }
      return next.badness > worst.badness ? next : worst
    }
  }
}

extension LinkFinding {
  /// An order from good to bad.
  fileprivate var badness: Int {
    switch state {
    case .usable: underlay == .down ? 1 : 0
    case .dormant: 2
    case .lowerLayerDown: 3
    case .noCarrier: 4
    case .down: 5
    case .missing: 6
    }
  }
}
