internal import ReachCore
internal import ReachIO
internal import ReachNetlink
internal import ReachProbe

/// What the kernel said of addresses, for as long as it has told of no change.
///
/// The monitor is subscribed to everything a routing decision depends on, so in a quiet network nothing needs to be
/// asked again. An answer is forgotten with the first change of any kind, and after `lifetime` all the same, for the
/// sake of changes that the kernel announces nowhere. Only good answers to unbound lookups are kept: a path that is
/// broken is looked at in every round.
final class RouteMemory: Sendable {
  private struct Entry {
    let finding: RouteFinding
    let askedAt: Instant
  }

  private let entries: LoopConfined<[IPAddress: Entry]>

  /// Bounds the age of what is believed.
  private static let lifetime = Duration.seconds(30)
  /// Bounds the memory; beyond it everything is forgotten at once.
  private static let capacity = 65_536

  /// A memory that follows the host's changes.
  init(_ host: ProbeHost) {
    entries = LoopConfined([:], on: host.loop)
    host.links.onChange { [weak self] _ in self?.forget() }
  }

  /// What is known of the address; nil when it must be asked.
  func finding(for address: IPAddress, at now: Instant) -> RouteFinding? {
    entries.withState { entries in
      guard let entry = entries[address], now.nanoseconds(since: entry.askedAt) < Self.lifetime.nanoseconds else {
        return nil
      }
      return entry.finding
    }
  }

  /// Keeps an answer, if it is one to be kept.
  func keep(_ finding: RouteFinding, for address: IPAddress, at now: Instant) {
    guard finding.isRoutable, !finding.isNeighbourFailed else { return }
    entries.withState { entries in
      if entries.count >= Self.capacity { entries.removeAll() }
      entries[address] = Entry(finding: finding, askedAt: now)
    }
  }

  private func forget() { entries.withState { $0.removeAll(keepingCapacity: true) } }
}
