public import ReachCore

/// Makes DNS messages, right and wrong ones (RFC 1035 section 4).
public enum Wire {
  /// A record of an answer.
  public struct Record: Sendable {
    /// Whose it is, as on the wire.
    public var owner: [UInt8]
    /// TYPE.
    public var type: UInt16
    /// CLASS.
    public var recordClass: UInt16 = 1
    /// TTL, in seconds.
    public var ttl: UInt32
    /// RDATA.
    public var data: [UInt8]

    /// A record of the class IN.
    public init(owner: [UInt8], type: UInt16, ttl: UInt32, data: [UInt8]) {
      self.owner = owner
      self.type = type
      self.ttl = ttl
      self.data = data
    }
  }

  /// The bits of a header's second word.
  public enum Flags {
    /// QR.
    public static let response: UInt16 = 0x8000
    /// AA.
    public static let authoritative: UInt16 = 0x0400
    /// TC.
    public static let truncated: UInt16 = 0x0200
    /// RA.
    public static let recursionAvailable: UInt16 = 0x0080
  }

  /// The compression pointer to the question's name.
  public static let questionName: [UInt8] = [0xc0, 0x0c]

  /// A name in labels, without compression.
  public static func name(_ text: String) -> [UInt8] {
    text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
  }

  /// Two octets in network order.
  public static func word(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }

  /// An A or AAAA record.
  public static func address(_ address: IPAddress, ttl: UInt32 = 300, owner: [UInt8] = questionName) -> Record {
    Record(owner: owner, type: address.family == .ipv4 ? 1 : 28, ttl: ttl, data: address.octets)
  }

  /// A CNAME record; both names as on the wire.
  public static func alias(_ owner: [UInt8], to target: [UInt8], ttl: UInt32) -> Record {
    Record(owner: owner, type: 5, ttl: ttl, data: target)
  }

  /// A message. `answerCount` may lie about the number of answers.
  public static func message(
    id: UInt16, flags: UInt16, question: [UInt8]?, answers: [Record] = [], answerCount: UInt16? = nil
  ) -> [UInt8] {
    var bytes = word(id) + word(flags) + word(question == nil ? 0 : 1)
    bytes += word(answerCount ?? UInt16(answers.count)) + word(0) + word(0)
    bytes += question ?? []
    for record in answers {
      bytes += record.owner + word(record.type) + word(record.recordClass)
      bytes += word(UInt16(record.ttl >> 16)) + word(UInt16(record.ttl & 0xffff))
      bytes += word(UInt16(record.data.count)) + record.data
    }
    return bytes
  }

  /// A question of the class IN.
  public static func question(_ name: String, _ type: UInt16) -> [UInt8] { self.name(name) + word(type) + word(1) }
}
