import CReachLinux
import ReachCore
import ReachNetlink
import Testing

@Suite struct DecodingFuzzTests {
  /// One of each kind, with every attribute that is read.
  private static let corpus: [[UInt8]] = [
    message(
      RTM_NEWROUTE,
      [2, 32, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0] + attribute(1, [1, 2, 3, 4]) + attribute(4, u32(2))
        + attribute(9, [24, 0, 1, 0, 2, 0, 0, 0] + attribute(18, u16(2) + [1, 2, 3, 4]) + [0, 0, 0, 0])),
    message(RTM_DELROUTE, [10, 128, 0, 0, 254, 3, 0, 1, 0, 0, 0, 0] + attribute(5, [UInt8](repeating: 1, count: 16))),
    message(
      RTM_NEWLINK,
      [0, 0, 1, 0, 7, 0, 0, 0, 3, 0, 1, 0, 0, 0, 0, 0] + attribute(IFLA_IFNAME, text("t0"))
        + attribute(IFLA_MTU, u32(1))
        + attribute(
          IFLA_LINKINFO,
          attribute(IFLA_INFO_KIND, text("gre"))
            + attribute(IFLA_INFO_DATA, attribute(IFLA_GRE_REMOTE, [198, 51, 100, 2])))),
    message(RTM_NEWADDR, [2, 24, 0, 0, 2, 0, 0, 0] + attribute(2, [192, 0, 2, 1])),
    message(RTM_NEWNEIGH, [2, 0, 0, 0, 3, 0, 0, 0, 32, 0, 0, 1] + attribute(1, [192, 0, 2, 9])),
    message(
      Int(NLMSG_ERROR), flags: UInt16(NLM_F_ACK_TLVS),
      u32(UInt32(bitPattern: -22)) + message(RTM_GETROUTE, u32(1)) + attribute(1, text("no"))),
    message(Int(NLMSG_DONE), u32(0)),
  ]

  /// Reads everything, and sees that the cursor comes to an end: each message takes at least a header.
  private func consume(_ bytes: [UInt8]) -> Bool {
    let span = unsafe bytes.span.bytes
    var cursor = MessageCursor()
    var steps = 0
    while steps <= bytes.count / 16 + 1 {
      steps += 1
      do throws(MalformedMessage) {
        guard let header = try cursor.next(in: span) else { return true }
        _ = try NetlinkMessage(header, in: span)
      } catch {
        continue
      }
    }
    return false
  }

  @Test("flipped, overwritten and cut messages are read to their end or refused", arguments: [1, 2] as [UInt64])
  func mutated(seed: UInt64) {
    var random = Seeded(state: seed)
    var ends = true
    for _ in 0..<12_000 {
      let original = Self.corpus[random.next(below: Self.corpus.count)]
      var bytes = original
      for _ in 0..<10 {
        let at = random.next(below: bytes.count)
        switch random.next(below: 4) {
        case 0: bytes[at] ^= 1 << UInt8(random.next(below: 8))
        case 1: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 2: bytes[at] = 0
        default: bytes[at] = 0xff
        }
        ends = consume(bytes) && ends
      }
      ends = consume(Array(bytes.prefix(random.next(below: bytes.count)))) && ends
    }
    #expect(ends)
  }

  @Test("every message cut at every place is read to its end or refused")
  func cut() {
    for bytes in Self.corpus {
      for length in 0..<bytes.count {
        var short = Array(bytes.prefix(length))
        #expect(consume(short))
        // Cut inside, with a length in the header that says so.
        if length >= 16 { short.replaceSubrange(0..<4, with: u32(UInt32(length))) }
        #expect(consume(short))
      }
    }
  }

  @Test("random octets of each type are read to their end or refused")
  func noise() {
    var random = Seeded(state: 99)
    var ends = true
    for _ in 0..<20_000 {
      var bytes = [UInt8](repeating: 0, count: 16 + random.next(below: 64))
      for index in bytes.indices { bytes[index] = UInt8(truncatingIfNeeded: random.next()) }
      bytes.replaceSubrange(0..<4, with: u32(UInt32(bytes.count)))
      bytes.replaceSubrange(4..<6, with: u16(UInt16([2, 3, 16, 17, 20, 24, 25, 28][random.next(below: 8)])))
      ends = consume(bytes) && ends
    }
    #expect(ends)
  }
}
