internal import CReachLinux

/// A message's header (struct nlmsghdr, netlink(7)) and where its payload lies.
public struct NetlinkHeader: Hashable, Sendable {
  /// nlmsg_type.
  public let type: UInt16
  /// nlmsg_flags.
  public let flags: UInt16
  /// nlmsg_seq: that of the request which is answered; 0 on an event.
  public let sequence: UInt32
  /// nlmsg_pid: the port of the socket which is answered.
  public let port: UInt32
  /// Where the payload lies, within the bytes it was read from.
  public let payload: Range<Int>

  /// NLM_F_DUMP_INTR: the tables changed while they were being read, so that the dump may have left something out.
  public var isInterrupted: Bool { flags & UInt16(truncatingIfNeeded: NLM_F_DUMP_INTR) != 0 }
}

/// Steps through the messages of one datagram.
public struct MessageCursor: Hashable, Sendable {
  private var offset = 0

  /// A cursor before the first message.
  public init() {}

  /// The next message's header; nil at the end.
  ///
  /// Throws when the length in the header cannot be: where the next message would begin is then unknown, so that the
  /// cursor stands at the end.
  public mutating func next(in bytes: RawSpan) throws(MalformedMessage) -> NetlinkHeader? {
    guard offset < bytes.byteCount else { return nil }
    let start = offset
    offset = bytes.byteCount
    guard let header = bytes.load(nlmsghdr.self, at: start) else { throw MalformedMessage(.messageLength) }
    let length = Int(header.nlmsg_len)
    guard length >= MemoryLayout<nlmsghdr>.size, length <= bytes.byteCount &- start else {
      throw MalformedMessage(.messageLength, messageType: header.nlmsg_type)
    }
    offset = start &+ aligned(length)
    return NetlinkHeader(
      type: header.nlmsg_type, flags: header.nlmsg_flags, sequence: header.nlmsg_seq, port: header.nlmsg_pid,
      payload: (start &+ MemoryLayout<nlmsghdr>.size)..<(start &+ length))
  }
}

/// NLMSG_ALIGN, which is RTA_ALIGN and NLA_ALIGN too. The length is that of something in memory.
func aligned(_ length: Int) -> Int { (length &+ 3) & ~3 }
