internal import CReachLinux
internal import Glibc
public import ReachCore
public import ReachIO

extension NetlinkSession {
  /// All interfaces. Throws what the kernel refused with, or EAGAIN when the table kept changing while it was read.
  public func links() throws(SystemError) -> [LinkAttributes] {
    Self.links(in: try whole(dump(.links)))
  }

  /// All interfaces, or when the table keeps changing while it is read, those that could be read. Throws what the kernel
  /// refused with.
  func linkDump() throws(SystemError) -> LinkDump {
    switch try dump(.links) {
    case .complete(let messages): LinkDump(links: Self.links(in: messages))
    case .incomplete(let messages): LinkDump(links: Self.links(in: messages), isWhole: false)
    }
  }

  private static func links(in messages: [NetlinkMessage]) -> [LinkAttributes] {
    messages.compactMap { if case .link(let link, isRemoval: false) = $0 { link } else { nil } }
  }

  /// All addresses of this host. Throws as `links()` does.
  public func addresses() throws(SystemError) -> [AddressMessage] {
    try whole(dump(.addresses)).compactMap {
      if case .address(let address, isRemoval: false) = $0 { address } else { nil }
    }
  }

  /// All neighbours. Throws as `links()` does.
  public func neighbours() throws(SystemError) -> [NeighbourMessage] {
    try whole(dump(.neighbours)).compactMap {
      if case .neighbour(let neighbour, isRemoval: false) = $0 { neighbour } else { nil }
    }
  }

  /// What the kernel knows of one neighbour (RTM_GETNEIGH, Linux 5.0); nil when it has no entry for it, or cannot say.
  public func neighbourState(interface: Int32, address: IPAddress) -> NeighbourState? {
    guard
      case .message(.neighbour(let neighbour, isRemoval: false)) =
        exchange(.neighbour(interface: interface, address: address))
    else { return nil }
    return neighbour.state
  }

  // MARK: Reading a dump

  enum DumpEnd {
    case complete([NetlinkMessage])
    /// Something was left out or lost on the way; this is what came.
    case incomplete([NetlinkMessage])
  }

  private static var attempts: Int { 8 }
  private static var datagramLimit: Int { 1 << 16 }

  private func dump(_ request: NetlinkRequest) throws(SystemError) -> DumpEnd {
    try state.withState { state throws(SystemError) in
      var last = DumpEnd.incomplete([])
      for _ in 0..<Self.attempts {
        if let code = start(request, &state) { throw SystemError("sendto", code) }
        last = try readDump(&state)
        if case .complete = last { return last }
        state.counters.restarts &+= 1
      }
      return last
    }
  }

  private func whole(_ end: DumpEnd) throws(SystemError) -> [NetlinkMessage] {
    guard case .complete(let messages) = end else { throw SystemError("recvfrom", FaultCode(errno: EAGAIN)) }
    return messages
  }

  /// Reads up to the end of the dump even when it is spoilt: the kernel begins no other before that.
  func readDump(_ state: inout State) throws(SystemError) -> DumpEnd {
    var messages: [NetlinkMessage] = []
    var isSpoilt = false
    for _ in 0..<Self.datagramLimit {
      switch socket.receive(into: &state.answer) {
      case .datagram(let count):
        guard let end = collect(count, &state, &messages, &isSpoilt) else { continue }
        if let code = end.code { throw SystemError("recvfrom", code) }
        return isSpoilt ? .incomplete(messages) : .complete(messages)
      case .truncated(let count):
        state.makeRoom(for: count)
        isSpoilt = true
      case .stray: state.counters.strays &+= 1
      case .nothing: return .incomplete(messages)
      case .failed(let code):
        guard code.errno == ENOBUFS else { throw SystemError("recvfrom", code) }
        isSpoilt = true
      }
    }
    return .incomplete(messages)
  }

  /// Takes in one datagram of a dump. Returns how the dump ended, when it did.
  private func collect(
    _ count: Int, _ state: inout State, _ messages: inout [NetlinkMessage], _ isSpoilt: inout Bool
  ) -> NetlinkAck? {
    let answer = state.answer
    let bytes = unsafe answer.span.bytes.extracting(0..<count)
    var cursor = MessageCursor()
    while true {
      do throws(MalformedMessage) {
        guard let header = try cursor.next(in: bytes) else { return nil }
        guard header.sequence == state.sequence, header.port == socket.port else {
          state.counters.strays &+= 1
          continue
        }
        if header.isInterrupted { isSpoilt = true }
        switch try NetlinkMessage(header, in: bytes) {
        case .acknowledgement(let ack), .done(let ack): return ack
        case .other: break
        case let message: messages.append(message)
        }
      } catch {
        state.counters.malformed &+= 1
      }
    }
  }
}
