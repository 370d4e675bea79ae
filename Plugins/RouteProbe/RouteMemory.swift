internal import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe

/// What the kernel said of addresses, for as long as it has told of no change.
///
/// The monitor is subscribed to what a routing decision depends on, so in a quiet network targets that are probed every
/// second need not have it asked each time. An answer is forgotten with the first change of any kind, and after
/// `lifetime` all the same, for the sake of changes that the kernel announces nowhere. Only good IPv4 answers to unbound
/// lookups are kept: a path that is broken is looked at in every round, and an IPv6 route may run out without a word
/// (RTA_EXPIRES, a router's advertisement).
final class RouteMemory: Sendable {
  /// A finding by its place among the different ones, which are few: most addresses are reached by the same gateway.
  private struct Entry {
    let finding: Int32
    let askedAt: Instant
  }

  /// What was asked: rules may tell ports apart.
  private struct Key: Hashable {
    let address: IPAddress
    let port: UInt16?
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var findings: [RouteFinding] = []
    var places: [RouteFinding: Int32] = [:]

    mutating func forget() {
      entries.removeAll(keepingCapacity: true)
      findings.removeAll()
      places.removeAll()
    }
  }

  private let state: LoopConfined<State>

  /// Bounds the age of what is believed.
  private static let lifetime = Duration.seconds(5)
  /// Bounds the memory; beyond it everything is forgotten at once.
  private static let capacity = 65_536

  /// A memory that follows the host's changes.
  init(_ host: ProbeHost) {
    state = LoopConfined(State(), on: host.loop)
    host.links.onChange { [weak self] _ in self?.forget() }
  }

  /// What is known of the address; nil when it must be asked.
  func finding(for address: IPAddress, port: UInt16?, at now: Instant) -> RouteFinding? {
    state.withState { state in
      guard let entry = state.entries[Key(address: address, port: port)],
        now.nanoseconds(since: entry.askedAt) < Self.lifetime.nanoseconds
      else {
        return nil
      }
      return state.findings[Int(entry.finding)]
    }
  }

  /// Keeps an answer, if it is one to be kept.
  func keep(_ finding: RouteFinding, for address: IPAddress, port: UInt16?, at now: Instant) {
    guard address.family == .ipv4, finding.isRoutable, !finding.isNeighbourFailed else { return }
    state.withState { state in
      if state.entries.count >= Self.capacity { state.forget() }
      let place = state.places[finding] ?? Int32(state.findings.count)
      if Int(place) == state.findings.count {
        state.findings.append(finding)
        state.places[finding] = place
      }
      state.entries[Key(address: address, port: port)] = Entry(finding: place, askedAt: now)
    }
  }

  private func forget() { state.withState { $0.forget() } }
}
