/// Reads the parts of a name server's message (RFC 1035 section 4): header, questions, records, names.
///
/// Total: an offset or a message of any kind gives nil rather than a trap. What the parts mean is for the caller to say.
public struct DNSReader: Hashable, Sendable {
  /// The message.
  public let bytes: [UInt8]

  /// The length of the header, after which the first question begins.
  public static let headerLength = 12

  /// A reader of these octets.
  public init(_ bytes: [UInt8]) { self.bytes = bytes }

  // MARK: Octets

  /// The octet there.
  public func byte(_ offset: Int) -> UInt8? { offset >= 0 && offset < bytes.count ? bytes[offset] : nil }

  /// The two octets there, big end first.
  public func word(_ offset: Int) -> UInt16? {
    guard offset >= 0, offset < bytes.count - 1 else { return nil }
    return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
  }

  /// The four octets there, big end first.
  public func longWord(_ offset: Int) -> UInt32? {
    guard offset >= 0, offset < bytes.count - 3 else { return nil }
    return bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
  }

  // MARK: Sections

  /// The header (RFC 1035 section 4.1.1).
  public struct Header: Hashable, Sendable {
    /// ID: the query's.
    public var id: UInt16
    /// QR to RCODE: the second word.
    public var flags: UInt16
    /// QDCOUNT.
    public var questions: UInt16
    /// ANCOUNT.
    public var answers: UInt16
    /// NSCOUNT.
    public var authorities: UInt16
    /// ARCOUNT.
    public var additionals: UInt16

    /// QR: an answer rather than a query.
    public var isResponse: Bool { flags & 0x8000 != 0 }
    /// OPCODE; 0 is a standard query.
    public var operation: UInt8 { UInt8(truncatingIfNeeded: flags >> 11 & 0xf) }
    /// AA.
    public var isAuthoritative: Bool { flags & 0x0400 != 0 }
    /// TC: the message was cut to fit.
    public var isTruncated: Bool { flags & 0x0200 != 0 }
    /// RA.
    public var offersRecursion: Bool { flags & 0x0080 != 0 }
    /// RCODE, without what an OPT record may add to it.
    public var code: UInt16 { flags & 0xf }
  }

  /// The header; nil when the message is too short for one.
  public var header: Header? {
    guard let id = word(0), let flags = word(2), let questions = word(4), let answers = word(6),
      let authorities = word(8), let additionals = word(10)
    else { return nil }
    return Header(
      id: id, flags: flags, questions: questions, answers: answers, authorities: authorities, additionals: additionals)
  }

  /// A question (RFC 1035 section 4.1.2).
  public struct Question: Hashable, Sendable {
    /// Where its name begins.
    public var name: Int
    /// QTYPE.
    public var type: UInt16
    /// QCLASS.
    public var questionClass: UInt16
    /// Where the next part of the message begins.
    public var end: Int
  }

  /// The question there.
  public func question(at start: Int) -> Question? {
    guard let end = endOfName(at: start), let type = word(end), let questionClass = word(end + 2) else { return nil }
    return Question(name: start, type: type, questionClass: questionClass, end: end + 4)
  }

  /// A record (RFC 1035 section 4.1.3).
  public struct Record: Hashable, Sendable {
    /// Where its name begins.
    public var owner: Int
    /// TYPE.
    public var type: UInt16
    /// CLASS.
    public var recordClass: UInt16
    /// TTL as sent, in seconds.
    public var ttl: UInt32
    /// RDATA, which lies within the message. The next part of the message begins where it ends.
    public var data: Range<Int>
  }

  /// The record there, of which the name has not been followed through its pointers.
  public func record(at start: Int) -> Record? {
    guard let end = endOfName(at: start), let type = word(end), let recordClass = word(end + 2),
      let ttl = longWord(end + 4), let length = word(end + 8)
    else { return nil }
    let data = (end + 10)..<(end + 10 + Int(length))
    guard data.upperBound <= bytes.count else { return nil }
    return Record(owner: start, type: type, recordClass: recordClass, ttl: ttl, data: data)
  }

  // MARK: Names

  /// The name there without compression: labels with their lengths, and the root's empty one. Its letters are as sent.
  /// Nil when it is none: too long, leading out of the message, or with a pointer that leads to no earlier place.
  public func name(at start: Int) -> [UInt8]? {
    var name: [UInt8] = []
    var offset = start
    // A pointer leads to what came earlier (RFC 1035 section 4.1.4); each must lead further back, so this ends.
    var limit = bytes.count
    while let length = byte(offset) {
      if length == 0 { return name + [0] }
      if length >= 0xc0 {
        guard let pointer = word(offset) else { return nil }
        let target = Int(pointer & 0x3fff)
        guard target < min(offset, limit) else { return nil }
        limit = target
        offset = target
        continue
      }
      let end = offset + 1 + Int(length)
      guard length < 64, end <= bytes.count, name.count + Int(length) + 2 <= 255 else { return nil }
      name.append(contentsOf: bytes[offset..<end])
      offset = end
    }
    return nil
  }

  /// Where the name there ends in the message, its compression pointer included. The pointer is not followed.
  public func endOfName(at start: Int) -> Int? {
    var offset = start
    while let length = byte(offset) {
      if length == 0 { return offset + 1 }
      if length >= 0xc0 { return offset + 2 <= bytes.count ? offset + 2 : nil }
      guard length < 64 else { return nil }
      offset += 1 + Int(length)
    }
    return nil
  }

  /// The octet in lower case, for ASCII letters alone (RFC 4343).
  public static func lowercased(_ octet: UInt8) -> UInt8 { (65...90).contains(octet) ? octet | 0x20 : octet }

  /// The name in lower case, so that equal names have equal octets. No length looks like a letter: none exceeds 63.
  public static func lowercased(_ name: [UInt8]) -> [UInt8] { name.map { lowercased($0) } }
}
