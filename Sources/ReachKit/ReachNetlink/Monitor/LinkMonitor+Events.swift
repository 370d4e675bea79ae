internal import CReachLinux
internal import Glibc
internal import ReachCore
internal import ReachIO

extension LinkMonitor {
  /// The most datagrams that are read in one go; what is left wakes the loop again, after others had their turn.
  private static var batchLimit: Int { 256 }
  /// The same once messages have been lost: then all that waits must go, or it would overwrite what is read anew with
  /// what was before, and the message that set it right would be among the lost.
  private static var drainLimit: Int { 1 << 20 }

  /// Reads what waits, brings the table up to date, and tells the handlers.
  func drain() {
    var change = NetworkChange(kinds: [], receivedAt: loop.now())
    let isWhole = state.withState { state in readBatch(&state, &change) }
    if isWhole {
      if !change.kinds.isEmpty { tell(change) }
    } else {
      state.withState { $0.counts.overruns &+= 1 }
      resyncSoon(since: change)
    }
  }

  /// Returns false when messages were lost.
  private func readBatch(_ state: inout State, _ change: inout NetworkChange) -> Bool {
    var isWhole = true
    for turn in 0..<Self.drainLimit {
      if isWhole, turn >= Self.batchLimit { return true }
      switch socket.receive(into: &state.buffer) {
      case .datagram(let count): take(count, &state, &change)
      case .truncated(let count):
        state.counts.malformed &+= 1
        state.makeRoom(for: count)
        isWhole = false
      case .stray: state.counts.strays &+= 1
      case .nothing: return isWhole
      case .failed(let code):
        // ENOBUFS is said once, and the socket goes on. Anything else is as good a reason to read anew.
        guard code.errno == ENOBUFS else { return false }
        isWhole = false
      }
    }
    return isWhole
  }

  private func take(_ count: Int, _ state: inout State, _ change: inout NetworkChange) {
    let buffer = state.buffer
    let bytes = unsafe buffer.span.bytes.extracting(0..<count)
    var cursor = MessageCursor()
    while true {
      do throws(MalformedMessage) {
        guard let header = try cursor.next(in: bytes) else { break }
        state.counts.messages[header.type, default: 0] &+= 1
        change.kinds.formUnion(try apply(header, bytes, &state))
      } catch {
        state.counts.malformed &+= 1
      }
    }
    if !change.kinds.isEmpty { state.forgetFindings(after: change.kinds) }
  }

  /// Takes in one message. Returns what it changed; nothing for one that repeats what is known.
  private func apply(
    _ header: NetlinkHeader, _ bytes: RawSpan, _ state: inout State
  ) throws(MalformedMessage) -> NetworkChange.Kinds {
    switch Int(header.type) {
    case RTM_NEWLINK, RTM_DELLINK:
      guard case .link(let link, let isRemoval) = try NetlinkMessage(header, in: bytes) else { return [] }
      let isNews = isRemoval ? state.table.remove(index: link.index) : state.table.update(typed(link, state.table))
      return isNews ? .link : []
    case RTM_NEWADDR, RTM_DELADDR: return .address
    case RTM_NEWROUTE, RTM_DELROUTE:
      // Only what decides whether it matters is read: a router may be told of a million.
      guard let body = bytes.body(rtmsg.self, of: header) else {
        throw MalformedMessage(.body, messageType: header.type)
      }
      return body.rtm_flags & UInt32(bitPattern: RTM_F_CLONED) != 0 ? [] : .route
    case RTM_NEWRULE, RTM_DELRULE: return .rule
    case RTM_NEWNEXTHOP, RTM_DELNEXTHOP, RTM_NEWNEXTHOPBUCKET, RTM_DELNEXTHOPBUCKET: return .nexthop
    case RTM_NEWNETCONF, RTM_DELNETCONF: return .netconf
    default: return []
    }
  }

  /// The link with what sysfs says of it, which is asked once for each interface and name.
  private func typed(_ link: LinkAttributes, _ table: LinkTable) -> LinkAttributes {
    var link = link
    if let known = table.links[link.index], known.name == link.name, known.hardwareAddress == link.hardwareAddress {
      link.deviceType = known.deviceType
    } else {
      link.deviceType = deviceTypes.deviceType(of: link)
    }
    return link
  }

  // MARK: Reading everything

  /// How soon everything is read again after the last time, should messages keep being lost.
  private static var resyncSpacing: Duration { .milliseconds(100) }
  /// And after it failed.
  private static var retrySpacing: Duration { .seconds(1) }

  /// Reads all interfaces into the table. Throws what the kernel refused; a table that changes faster than it can be
  /// read is left for a second try.
  func readAll() throws(SystemError) {
    do {
      try reload()
    } catch {
      guard error.code.errno == EAGAIN else { throw error }
      retryResync(at: loop.now().advanced(by: Self.retrySpacing))
    }
  }

  private func reload() throws(SystemError) {
    let fresh = try session.links()
    state.withState { state in
      let known = state.table
      state.table.replaceAll(with: fresh.map { typed($0, known) })
      state.findings.removeAll(keepingCapacity: true)
    }
  }

  /// Reads everything anew, at once or as soon as that is due.
  private func resyncSoon(since change: NetworkChange) {
    let due = state.withState { $0.lastResync.advanced(by: Self.resyncSpacing) }
    if due <= loop.now() { resync(since: change) } else { retryResync(at: due) }
  }

  private func retryResync(at due: Instant) {
    state.withState { state in
      guard state.resyncTimer == nil else { return }
      state.resyncTimer = loop.schedule(at: due) { [weak self] in
        guard let self else { return }
        self.state.withState { $0.resyncTimer = nil }
        self.resync(since: NetworkChange(kinds: [], receivedAt: self.loop.now()))
      }
    }
  }

  private func resync(since change: NetworkChange) {
    let start = loop.now()
    do throws(SystemError) {
      try reload()
    } catch {
      state.withState { $0.counts.failedResyncs &+= 1 }
      return retryResync(at: start.advanced(by: Self.retrySpacing))
    }
    let end = loop.now()
    state.withState { state in
      state.counts.resyncs &+= 1
      state.lastResync = end
    }
    tell(
      NetworkChange(
        kinds: change.kinds.union(.resync), receivedAt: change.receivedAt, resyncDuration: end.since(start)))
  }

  private func tell(_ change: NetworkChange) {
    for (_, handler) in state.withState({ $0.handlers }) { handler(change) }
  }
}

extension LinkMonitor.State {
  /// Drops the findings that the change may have made wrong: a tunnel's rest on routes too.
  mutating func forgetFindings(after kinds: NetworkChange.Kinds) {
    if kinds.contains(.link) || table.hasTunnels { findings.removeAll(keepingCapacity: true) }
  }

  /// Makes the buffer hold a datagram of that length, as far as that is sensible.
  mutating func makeRoom(for count: Int) {
    let limit = 1 << 20
    guard count > buffer.count, buffer.count < limit else { return }
    buffer = [UInt8](repeating: 0, count: min(limit, max(count, buffer.count &* 2)))
  }
}
