internal import ReachCore

/// What a layer found, in one line for people.
enum FindingText {
  static func dns(_ finding: DNSFinding) -> String {
    var text: String
    switch finding.result {
    case .resolved: text = list(finding.addresses)
    case .failed(let reason):
      text = "\(reason): \(reason.explanation)"
      if finding.isStale { text += "; still using " + list(finding.addresses) }
    case .fault(let fault): text = "\(fault.reason): \(fault.detail.isEmpty ? fault.reason.explanation : fault.detail)"
    }
    if let ttl = finding.ttl { text += ", TTL " + DurationText.short(ttl) }
    if finding.isCached { text += ", remembered" }
    if !finding.servers.isEmpty, !finding.isCached {
      text += (finding.result == .resolved ? ", from " : ", asked ") + list(finding.servers)
    }
    return text
  }

  static func route(_ candidate: Candidate, among count: Int) -> String {
    guard let route = candidate.route else { return "not looked up" }
    let prefix =
      switch candidate.role {
      case .resolverPath: "to the name server \(candidate.address?.description ?? "") "
      case .target: count > 1 ? "\(candidate.address?.description ?? "") " : ""
      }
    var text: String
    switch route.decision {
    case .unicast: text = route.gateway.map { "via \($0)" } ?? (route.legs.count > 1 ? "over several hops" : "on-link")
    case .local: text = "an address of this host"
    case .refused(let reason): return prefix + "\(reason): \(reason.explanation)"
    case .fault(let code): return prefix + "the kernel could not be asked (\(code.name))"
    }
    if !route.interface.isEmpty { text += " dev \(route.interface)" }
    if let source = route.source { text += " src \(source)" }
    for leg in route.legs where route.legs.count > 1 {
      text += ", " + (leg.gateway.map { "via \($0)" } ?? "on-link") + " weight \(leg.weight)"
    }
    if route.isNeighbourFailed { text += ", \(Reason.neighbourFailed.explanation)" }
    return prefix + text
  }

  static func link(_ candidate: Candidate) -> String? {
    guard let link = candidate.link else { return nil }
    guard link.state != .missing else { return "\(link.interface): \(link.reason.explanation)" }
    let state = link.state == .usable ? "usable" : "\(link.reason): \(link.reason.explanation)"
    return "\(link.interface) (\(link.medium.rawValue)) \(state)"
  }

  static func tcp(_ candidate: Candidate, port: UInt16?) -> String {
    let address = candidate.address.map { endpoint($0, port: port) } ?? ""
    guard let tcp = candidate.tcp else { return "\(address) not tried" }
    switch tcp.result {
    case .open: return "\(address) open" + (tcp.rtt.map { ", round trip \(DurationText.short($0))" } ?? "")
    case .failed(let reason):
      let time = tcp.duration.map { ", after \(DurationText.short($0))" } ?? ""
      return "\(address) \(reason): \(reason.explanation)\(time)"
    case .refusedLocally(let code): return "\(address) this host would not send (\(code.name))"
    case .fault(let code): return "\(address) this host could not try (\(code.name))"
    case .notRun: return "\(address) not tried"
    }
  }

  static func endpoint(_ address: IPAddress, port: UInt16?) -> String {
    guard let port else { return "\(address)" }
    return address.family == .ipv6 ? "[\(address)]:\(port)" : "\(address):\(port)"
  }

  private static func list(_ addresses: [IPAddress]) -> String {
    addresses.map(\.description).joined(separator: ", ")
  }
}
