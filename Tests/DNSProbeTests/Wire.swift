import ReachCore

@testable import DNSProbe

/// Makes DNS messages, right and wrong ones (RFC 1035 section 4).
enum Wire {
  /// A record of an answer.
  struct Record {
    var owner: [UInt8]
    var type: UInt16
    var recordClass: UInt16 = 1
    var ttl: UInt32
    var data: [UInt8]
  }

  /// The bits of a header's second word.
  enum Flags {
    static let response: UInt16 = 0x8000
    static let authoritative: UInt16 = 0x0400
    static let truncated: UInt16 = 0x0200
    static let recursionAvailable: UInt16 = 0x0080
  }

  /// The compression pointer to the question's name.
  static let questionName: [UInt8] = [0xc0, 0x0c]

  static func name(_ text: String) -> [UInt8] {
    text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
  }

  static func word(_ value: UInt16) -> [UInt8] { [UInt8(value >> 8), UInt8(value & 0xff)] }

  static func address(_ address: IPAddress, ttl: UInt32 = 300, owner: [UInt8] = questionName) -> Record {
    Record(owner: owner, type: address.family == .ipv4 ? 1 : 28, ttl: ttl, data: address.octets)
  }

  static func alias(_ owner: [UInt8], to target: [UInt8], ttl: UInt32) -> Record {
    Record(owner: owner, type: 5, ttl: ttl, data: target)
  }

  static func message(
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

  static func question(_ name: String, _ type: UInt16) -> [UInt8] { self.name(name) + word(type) + word(1) }
}
