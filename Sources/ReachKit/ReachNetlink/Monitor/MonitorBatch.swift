internal import ReachCore

/// What the messages of one batch come to, until it is told.
struct MonitorBatch: Sendable {
  /// What changed.
  var kinds: NetworkChange.Kinds = []
  /// Messages of it were lost.
  var isLossy = false

  private var links: [Int32] = []
  private var hasMoreLinks = false
  private var receivedAt: Instant?
  /// The state before the batch of each interface whose carrier moved in it.
  private var statesBefore: [Int32: LinkFinding.State] = [:]

  /// Begins at that time, unless it has begun.
  mutating func begin(at now: Instant) {
    if receivedAt == nil { receivedAt = now }
  }

  /// Takes note of a change that is about an interface.
  mutating func note(_ kind: NetworkChange.Kinds, link index: Int32) {
    kinds.formUnion(kind)
    guard !hasMoreLinks, !links.contains(index) else { return }
    if links.count < NetworkChange.mostLinks { links.append(index) } else { hasMoreLinks = true }
  }

  /// Takes note of what a message says of an interface's carrier. One message may stand for several changes, which
  /// only IFLA_CARRIER_CHANGES then tells of.
  mutating func noteCarrier(from old: LinkAttributes, to new: LinkAttributes) {
    let before = LinkClassifier.state(of: old)
    guard old.carrierChanges != new.carrierChanges || before != LinkClassifier.state(of: new) else { return }
    if statesBefore[new.index] == nil { statesBefore[new.index] = before }
  }

  /// How many interfaces are in the state they were in before the batch although their carrier moved.
  func flaps(in table: LinkTable) -> UInt64 {
    var count: UInt64 = 0
    for (index, state) in statesBefore {
      if let link = table.links[index], LinkClassifier.state(of: link) == state { count &+= 1 }
    }
    return count
  }

  /// Ends the batch and returns all of it.
  mutating func end(resyncDuration: Duration?) -> NetworkChange {
    let change = NetworkChange(
      kinds: kinds, links: hasMoreLinks ? [] : links, receivedAt: receivedAt ?? Instant(nanoseconds: 0),
      resyncDuration: resyncDuration)
    kinds = []
    isLossy = false
    links.removeAll()
    hasMoreLinks = false
    receivedAt = nil
    statesBefore.removeAll(keepingCapacity: true)
    return change
  }
}
