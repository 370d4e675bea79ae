internal import ReachCore

/// A query with one question (RFC 1035 section 4), as it is sent, and what tells its answer from other messages.
struct DNSQuestionMessage: Hashable, Sendable {
  let name: DNSName
  let type: DNSRecordType
  let recordClass: DNSRecordClass
  let wantsRecursion: Bool

  /// The message under that number. It has no OPT record (RFC 6891), for that would put one among the additional records
  /// of the answer, which are counted.
  func bytes(id: UInt16) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(DNSReader.headerLength + name.wire.count + 4)
    for word: UInt16 in [id, wantsRecursion ? 0x0100 : 0, 1, 0, 0, 0] { Self.append(word, to: &bytes) }
    bytes += name.wire
    Self.append(type.number, to: &bytes)
    Self.append(recordClass.number, to: &bytes)
    return bytes
  }

  /// Whether the message is one that answers this query under that number. One without a question may, since some servers
  /// send no more than a header when they refuse.
  func isAnswered(by reader: DNSReader, id: UInt16) -> Bool {
    guard let header = reader.header, header.id == id, header.isResponse, header.operation == 0 else { return false }
    if header.questions == 0 || reader.bytes.count == DNSReader.headerLength { return true }
    guard header.questions == 1, let question = reader.question(at: DNSReader.headerLength),
      question.type == type.number, question.questionClass == recordClass.number,
      let asked = DNSName(reader, at: question.name)
    else { return false }
    return asked.isSame(as: name)
  }

  private static func append(_ word: UInt16, to bytes: inout [UInt8]) {
    bytes.append(UInt8(truncatingIfNeeded: word >> 8))
    bytes.append(UInt8(truncatingIfNeeded: word))
  }
}
