internal import CReachLinux
internal import Glibc
internal import ReachCore

/// What a link monitor knows and decides, apart from sockets and timers: the kernel's bytes in, changes out. A value.
///
/// Its driver hands over each datagram as it came, or word of one that was lost, ends the batch, and does the step that
/// this returns. The time is told with each call, so that a script can drive it as well as a kernel.
struct MonitorCore: Sendable {
  /// What its driver does next.
  enum Step: Hashable, Sendable {
    /// Nothing; `nextRead` says whether there will be.
    case rest
    /// Tell the handlers.
    case tell(NetworkChange)
    /// Read all interfaces now, then call `take(_:from:to:)`, or `failRead(at:)`.
    case read
  }

  /// How soon everything is read again after the last time, should messages keep being lost.
  static let readSpacing = Duration.milliseconds(100)
  /// How soon it is tried again after it failed.
  static let retrySpacing = Duration.seconds(1)

  /// The interfaces, as far as the messages taken in tell of them.
  var table = LinkTable()
  /// What has been met so far.
  private(set) var counts = MonitorCounts()
  /// When all interfaces are to be read anew; nil while there is no need to.
  private(set) var nextRead: Instant?

  private let deviceType: @Sendable (LinkAttributes) -> DeviceType
  private var addresses = AddressMemory()
  private var batch = MonitorBatch()
  /// Messages were lost and no whole reading has made good for them yet.
  private var owesReading = false
  private var earliestRead = Instant(nanoseconds: .min)

  /// A monitor that knows of no interface. `deviceType` is asked what a new interface is, once for each and its name.
  init(deviceType: @escaping @Sendable (LinkAttributes) -> DeviceType = { _ in .unspecified }) {
    self.deviceType = deviceType
  }

  // MARK: Messages

  /// Begins a batch, unless one is still to be told.
  mutating func beginBatch(at now: Instant) { batch.begin(at: now) }

  /// Takes in a datagram.
  mutating func take(_ datagram: RawSpan) {
    var cursor = MessageCursor()
    while true {
      do throws(MalformedMessage) {
        guard let header = try cursor.next(in: datagram) else { return }
        counts.note(header.type)
        try apply(header, datagram)
      } catch {
        counts.malformed &+= 1
      }
    }
  }

  /// Takes note of a datagram that another process sent.
  mutating func noteStray() { counts.strays &+= 1 }

  /// Takes note that messages were lost (netlink(7), ENOBUFS), or could not be read whole.
  mutating func noteLoss() { batch.isLossy = true }

  /// Ends the batch.
  mutating func finishBatch(at now: Instant) -> Step {
    guard batch.isLossy else { return tellBatch() }
    batch.isLossy = false
    counts.overruns &+= 1
    owesReading = true
    addresses.forget()
    batch.kinds.insert(.resync)
    let due = max(now, earliestRead)
    nextRead = min(nextRead ?? due, due)
    // While the reading waits its turn, everything else is looked at again at once.
    return due <= now ? .read : tellBatch()
  }

  /// Takes in one message that the cursor stands at.
  private mutating func apply(_ header: NetlinkHeader, _ bytes: RawSpan) throws(MalformedMessage) {
    switch Int(header.type) {
    case RTM_NEWLINK, RTM_DELLINK:
      guard let link = try LinkAttributes(header, in: bytes) else { return }
      if Int(header.type) == RTM_DELLINK { remove(link.index) } else { update(link) }
    case RTM_NEWADDR, RTM_DELADDR:
      guard let address = try AddressMessage(header, in: bytes) else { return }
      if addresses.take(address, isRemoval: Int(header.type) == RTM_DELADDR) {
        batch.note(.address, link: address.interface)
      }
    case RTM_NEWROUTE, RTM_DELROUTE:
      // Only what decides whether it matters is read: a router may be told of a million.
      guard let body = bytes.body(rtmsg.self, of: header) else {
        throw MalformedMessage(.body, messageType: header.type)
      }
      if body.rtm_flags & UInt32(bitPattern: RTM_F_CLONED) == 0 { batch.kinds.insert(.route) }
    case RTM_NEWRULE, RTM_DELRULE: batch.kinds.insert(.rule)
    case RTM_NEWNEXTHOP, RTM_DELNEXTHOP, RTM_NEWNEXTHOPBUCKET, RTM_DELNEXTHOPBUCKET: batch.kinds.insert(.nexthop)
    case RTM_NEWNETCONF, RTM_DELNETCONF: batch.kinds.insert(.netconf)
    case Int(NLMSG_OVERRUN): batch.isLossy = true
    default: break
    }
  }

  private mutating func update(_ link: LinkAttributes) {
    // What says nothing of the name is no description of an interface.
    guard !link.name.isEmpty else { return }
    let known = table.links[link.index]
    guard table.update(typed(link, known)) else { return }
    batch.note(.link, link: link.index)
    if let known { batch.noteCarrier(from: known, to: link) }
  }

  private mutating func remove(_ index: Int32) {
    guard table.remove(index: index) else { return }
    addresses.forget(interface: index)
    batch.note(.link, link: index)
  }

  /// The link with what it is, which is asked once for each interface and name.
  private func typed(_ link: LinkAttributes, _ known: LinkAttributes?) -> LinkAttributes {
    var link = link
    if let known, known.name == link.name, known.hardwareAddress == link.hardwareAddress {
      link.deviceType = known.deviceType
    } else {
      link.deviceType = deviceType(link)
    }
    return link
  }

  // MARK: Reading everything

  /// Whether the reading that waits is due.
  func step(at now: Instant) -> Step {
    guard let nextRead, nextRead <= now else { return .rest }
    return .read
  }

  /// Takes in what was read between these times in the place of all that was known, and says what is different.
  ///
  /// Of a reading that is not whole what it has is believed; what it lacks stays until a whole one follows.
  mutating func take(_ dump: LinkDump, from start: Instant, to end: Instant) -> Step {
    batch.begin(at: start)
    let old = table
    let fresh = dump.links.lazy.filter { !$0.name.isEmpty }.map { [self] link in typed(link, old.links[link.index]) }
    table.replaceAll(with: Array(fresh), keepingOthers: !dump.isWhole)
    for index in table.differences(from: old) {
      batch.note(.link, link: index)
      if let before = old.links[index], let now = table.links[index] { batch.noteCarrier(from: before, to: now) }
    }
    earliestRead = end.advanced(by: Self.readSpacing)
    guard dump.isWhole else {
      counts.failedResyncs &+= 1
      nextRead = end.advanced(by: Self.retrySpacing)
      return tellBatch()
    }
    nextRead = nil
    guard owesReading else { return tellBatch() }
    owesReading = false
    counts.resyncs &+= 1
    batch.kinds.insert(.resync)
    return tellBatch(resyncDuration: end.since(start))
  }

  /// Takes note that reading failed. What the batch brought is told all the same: routes may have changed.
  mutating func failRead(at now: Instant) -> Step {
    counts.failedResyncs &+= 1
    earliestRead = now.advanced(by: Self.readSpacing)
    nextRead = now.advanced(by: Self.retrySpacing)
    return tellBatch()
  }

  private mutating func tellBatch(resyncDuration: Duration? = nil) -> Step {
    let flaps = batch.flaps(in: table)
    counts.flaps &+= flaps
    if flaps > 0 { batch.kinds.insert(.flap) }
    let change = batch.end(resyncDuration: resyncDuration)
    return change.kinds.isEmpty ? .rest : .tell(change)
  }
}

/// What reading all interfaces brought.
struct LinkDump: Hashable, Sendable {
  /// The interfaces.
  var links: [LinkAttributes]
  /// Whether they are all; not when the kernel's table kept changing under the reading (NLM_F_DUMP_INTR).
  var isWhole = true
}
