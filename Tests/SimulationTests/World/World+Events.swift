import CReachLinux
import ReachCore

/// What may happen to the kernel's tables.
extension World {
  /// Changes an interface and tells of it.
  func change(_ place: Int, at now: Int64, _ body: (inout Interface) -> Void) {
    guard var interface = interfaces[place] else { return }
    if !interface.isUsable { interface.unusableAt = now }
    body(&interface)
    if !interface.isUsable { interface.unusableAt = now }
    interfaces[place] = interface
    tell(interface.message(RTM_NEWLINK), at: now)
  }

  func setCarrier(_ place: Int, _ isThere: Bool, at now: Int64) {
    guard let interface = interfaces[place], interface.hasCarrier != isThere else { return }
    change(place, at: now) {
      $0.hasCarrier = isThere
      $0.carrierChanges &+= 1
    }
  }

  /// The carrier goes and comes back before any message is sent of it.
  func flap(_ place: Int, at now: Int64) {
    change(place, at: now) {
      $0.carrierChanges &+= 2
      $0.unusableAt = now
    }
  }

  /// Sets an interface down, which takes its IPv4 routes away without a word.
  func setDown(_ place: Int, at now: Int64) {
    guard let interface = interfaces[place], interface.isUp else { return }
    change(place, at: now) { $0.isUp = false }
    removeRoutes(at: now, telling: .ipv6) { $0.place == place }
  }

  /// Sets an interface up: what is on its link comes back, gateways' routes do not.
  func setUp(_ place: Int, at now: Int64) {
    guard let interface = interfaces[place], !interface.isUp else { return }
    change(place, at: now) { $0.isUp = true }
    change(place, at: now) { _ in }
    if interface.hasAddress { add(Route(network: .onLink(place), place: place, metric: 0), at: now) }
  }

  /// Takes the last address away, which takes the routes by gateways away without a word.
  func removeAddress(_ place: Int, at now: Int64) {
    guard let interface = interfaces[place], interface.hasAddress else { return }
    interfaces[place]?.hasAddress = false
    tell(interface.addressMessage(RTM_DELADDR), at: now)
    removeRoutes(at: now, telling: .onLink) { $0.place == place && $0.network != .defaultIPv6 }
  }

  func addAddress(_ place: Int, at now: Int64) {
    guard let interface = interfaces[place], !interface.hasAddress else { return }
    interfaces[place]?.hasAddress = true
    tell(interface.addressMessage(RTM_NEWADDR), at: now)
    if interface.isUp { add(Route(network: .onLink(place), place: place, metric: 0), at: now) }
  }

  /// An address is told anew, as when its lease is renewed.
  func renewAddress(_ place: Int, at now: Int64) {
    if let interface = interfaces[place], interface.hasAddress { tell(interface.addressMessage(RTM_NEWADDR), at: now) }
  }

  func rename(_ place: Int, to name: String, at now: Int64) {
    guard interface(named: name) == nil else { return }
    change(place, at: now) { $0.name = name }
  }

  /// Takes an interface out of the host, with all that rests on it.
  func delete(_ place: Int, at now: Int64) {
    guard let interface = interfaces[place] else { return }
    removeRoutes(at: now, telling: .all) { $0.place == place }
    interfaces[place] = nil
    tell(interface.message(RTM_DELLINK), at: now)
  }

  /// Puts an interface back, which is another one to the kernel.
  func create(_ place: Int, at now: Int64) {
    guard interfaces[place] == nil, interface(named: Self.names[place]) == nil else { return }
    var interface = Interface(place: place, index: newIndex(), name: Self.names[place])
    interface.isUp = false
    interface.hasAddress = false
    interface.unusableAt = now
    interfaces[place] = interface
    tell(interface.message(RTM_NEWLINK), at: now)
    setUp(place, at: now)
    addAddress(place, at: now)
  }

  // MARK: Routes

  /// Of which routes the kernel tells when it takes them away.
  enum Telling {
    case all
    case ipv6
    case onLink
    case nothing
    /// Of the next hop they used alone.
    case nexthop
  }

  func add(_ route: Route, at now: Int64) {
    if let place = route.place {
      guard let interface = interfaces[place], interface.isUp else { return }
      if route.network != .defaultIPv6, !interface.hasAddress { return }
    }
    guard !routes.contains(route) else { return }
    routes.append(route)
    tell(KernelMessage.bare(RTM_NEWROUTE), at: now)
  }

  func removeRoutes(at now: Int64, telling: Telling, _ isGone: (Route) -> Bool) {
    var kept: [Route] = []
    for route in routes {
      guard isGone(route) else {
        kept.append(route)
        continue
      }
      switch telling {
      case .all: tell(KernelMessage.bare(RTM_DELROUTE), at: now)
      case .ipv6 where route.network == .defaultIPv6: tell(KernelMessage.bare(RTM_DELROUTE), at: now)
      case .onLink where route.gateway == nil: tell(KernelMessage.bare(RTM_DELROUTE), at: now)
      case .nexthop: tell(KernelMessage.bare(RTM_DELNEXTHOP), at: now)
      case .ipv6, .onLink, .nothing: break
      }
    }
    routes = kept
  }

  func setProhibited(_ isProhibited: Bool, at now: Int64) {
    guard self.isProhibited != isProhibited else { return }
    self.isProhibited = isProhibited
    tell(KernelMessage.bare(isProhibited ? RTM_NEWRULE : RTM_DELRULE), at: now)
  }

  func setIgnoringRoutesWithLinkDown(_ ignores: Bool, at now: Int64) {
    guard ignoresRoutesWithLinkDown != ignores else { return }
    ignoresRoutesWithLinkDown = ignores
    tell(KernelMessage.bare(RTM_NEWNETCONF), at: now)
  }

  // MARK: Mending

  /// Undoes all that is wrong.
  func mend(at now: Int64) {
    setProhibited(false, at: now)
    setIgnoringRoutesWithLinkDown(false, at: now)
    // A name may stand in the way of another one.
    for place in interfaces.indices { rename(place, to: "lan\(10 + place)", at: now) }
    for place in interfaces.indices {
      if interfaces[place] == nil { create(place, at: now) }
      setUp(place, at: now)
      setCarrier(place, true, at: now)
      if interfaces[place]?.isDormant == true { change(place, at: now) { $0.isDormant = false } }
      addAddress(place, at: now)
      if interfaces[place]?.name != Self.names[place] { rename(place, to: Self.names[place], at: now) }
    }
    removeRoutes(at: now, telling: .all) { !Self.ordinaryRoutes.contains($0) && $0 != Self.modemRoute }
    for route in Self.ordinaryRoutes { add(route, at: now) }
    answers = answers.map { _ in .open }
    delays = delays.map { _ in 2 * Time.millisecond }
    resolver = .answers
    resolverDelay = 3 * Time.millisecond
    lacksDescriptors = false
    lacksMemory = false
    refusesQuestions = false
    disturbedReadings = 0
    stuckUntil = .min
  }
}
