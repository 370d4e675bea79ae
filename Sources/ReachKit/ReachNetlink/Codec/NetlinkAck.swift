internal import CReachLinux
public import ReachCore

/// How a request ended: NLMSG_ERROR, which is also the acknowledgement, or NLMSG_DONE (netlink(7)).
public struct NetlinkAck: Hashable, Sendable {
  /// The errno; nil when the request went well.
  public let code: FaultCode?
  /// What the kernel says about it (NLMSGERR_ATTR_MSG); nil when it says nothing.
  public let text: String?

  /// An end.
  public init(code: FaultCode?, text: String? = nil) {
    self.code = code
    self.text = text
  }

  /// Reads an NLMSG_ERROR: an errno, the header of the request, the request's payload unless NLM_F_CAPPED, attributes.
  init(error header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    guard let body = bytes.body(nlmsgerr.self, of: header) else {
      throw MalformedMessage(.body, messageType: header.type)
    }
    var echoed = MemoryLayout<nlmsgerr>.size
    if !header.has(NLM_F_CAPPED) {
      let payload = Int(body.msg.nlmsg_len) &- MemoryLayout<nlmsghdr>.size
      if payload > 0 { echoed = min(echoed &+ aligned(payload), header.payload.count) }
    }
    self.init(code: Self.code(body.error), text: try Self.text(after: echoed, of: header, in: bytes))
  }

  /// Reads an NLMSG_DONE: an errno, which old kernels leave out, and attributes.
  init(done header: NetlinkHeader, in bytes: RawSpan) throws(MalformedMessage) {
    guard let error = bytes.body(Int32.self, of: header) else {
      self.init(code: nil)
      return
    }
    let text = try Self.text(after: MemoryLayout<Int32>.size, of: header, in: bytes)
    self.init(code: Self.code(error), text: text)
  }

  /// An errno comes negated. A positive one is none, and becomes EIO.
  private static func code(_ error: Int32) -> FaultCode? { error == 0 ? nil : FaultCode(errno: 0 &- error) }

  private static func text(
    after size: Int, of header: NetlinkHeader, in bytes: RawSpan
  ) throws(MalformedMessage) -> String? {
    guard header.has(NLM_F_ACK_TLVS) else { return nil }
    var attributes = AttributeCursor(afterBodyOf: size, of: header)
    while let attribute = try attributes.next(in: bytes) {
      if attribute.type == Int(NLMSGERR_ATTR_MSG.rawValue) { return bytes.text(in: attribute.payload) }
    }
    return nil
  }
}

extension NetlinkHeader {
  /// Whether a flag of nlmsg_flags is set.
  func has(_ flag: Int32) -> Bool { flags & UInt16(truncatingIfNeeded: flag) != 0 }
}
