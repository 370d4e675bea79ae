internal import CReachLinux
internal import ReachCore

/// Writes one request into a buffer that is used again and again (netlink(7), rtnetlink(7)).
///
/// The buffer keeps its capacity, so that nothing is allocated once it has held a request of the same length.
struct RequestEncoder: ~Copyable {
  private(set) var buffer: [UInt8]

  /// An encoder that writes over what the buffer holds.
  init(reusing buffer: consuming [UInt8]) {
    self.buffer = buffer
    self.buffer.removeAll(keepingCapacity: true)
  }

  /// Begins with the header; its length is settled by `finish()`.
  mutating func begin(_ type: Int, flags: Int32, sequence: UInt32) {
    append(
      nlmsghdr(
        nlmsg_len: 0, nlmsg_type: UInt16(truncatingIfNeeded: type),
        nlmsg_flags: UInt16(truncatingIfNeeded: flags | NLM_F_REQUEST), nlmsg_seq: sequence, nlmsg_pid: 0))
  }

  /// Appends one of the kernel's structures, padded to the alignment of messages.
  mutating func append<Value: BitwiseCopyable>(_ value: Value) {
    unsafe withUnsafeBytes(of: value) { unsafe buffer.append(contentsOf: $0) }
    pad()
  }

  /// Appends an attribute of 32 bits.
  mutating func append(_ type: Int, word: UInt32) {
    append(rtattr(rta_len: 8, rta_type: UInt16(truncatingIfNeeded: type)))
    append(word)
  }

  /// Appends an attribute of one octet.
  mutating func append(_ type: Int, octet: UInt8) {
    append(rtattr(rta_len: 5, rta_type: UInt16(truncatingIfNeeded: type)))
    append(octet)
  }

  /// Appends an attribute of 16 bits in the order of the wire.
  mutating func append(_ type: Int, bigEndian value: UInt16) {
    append(rtattr(rta_len: 6, rta_type: UInt16(truncatingIfNeeded: type)))
    append(value.bigEndian)
  }

  /// Appends an address in the order of the wire.
  mutating func append(_ type: Int, address: IPAddress) {
    let length = MemoryLayout<rtattr>.size &+ address.family.octetCount
    append(rtattr(rta_len: UInt16(truncatingIfNeeded: length), rta_type: UInt16(truncatingIfNeeded: type)))
    switch address.family {
    case .ipv4: append(UInt32(truncatingIfNeeded: address.low).bigEndian)
    case .ipv6:
      append(address.high.bigEndian)
      append(address.low.bigEndian)
    }
  }

  /// Settles the message's length and hands the buffer back.
  consuming func finish() -> [UInt8] {
    let length = UInt32(truncatingIfNeeded: buffer.count)
    unsafe withUnsafeBytes(of: length) { octets in
      unsafe buffer.replaceSubrange(0..<octets.count, with: octets)
    }
    return buffer
  }

  private mutating func pad() {
    while buffer.count & 3 != 0 { buffer.append(0) }
  }
}
