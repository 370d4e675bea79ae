import ReachCore
import Testing

@Suite struct DNSReaderTests {
  /// The answer to a question for the addresses of F.ISI.ARPA, with the names of RFC 1035 section 4.1.4 in it.
  static let message: [UInt8] =
    [0x12, 0x34, 0x84, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]
    + [1, 0x46, 3, 0x49, 0x53, 0x49, 4, 0x41, 0x52, 0x50, 0x41, 0, 0, 1, 0, 1]
    + [3, 0x46, 0x4f, 0x4f, 0xc0, 12, 0, 1, 0, 1, 0, 0, 1, 0x2c, 0, 4, 192, 0, 2, 1]

  @Test("header, question and record are read, and each says where the next part begins")
  func parts() throws {
    let reader = DNSReader(Self.message)
    let header = try #require(reader.header)
    #expect(header.id == 0x1234)
    #expect(header.isResponse && header.isAuthoritative && header.offersRecursion && !header.isTruncated)
    #expect((header.questions, header.answers, header.authorities, header.additionals) == (1, 1, 0, 0))
    let question = try #require(reader.question(at: DNSReader.headerLength))
    #expect((question.name, question.type, question.questionClass, question.end) == (12, 1, 1, 28))
    let record = try #require(reader.record(at: question.end))
    #expect((record.owner, record.type, record.recordClass, record.ttl) == (28, 1, 1, 300))
    #expect(record.data == 44..<48)
    #expect(DNSName(reader, at: record.owner)?.description == "FOO.F.ISI.ARPA.")
  }

  @Test("a message that was cut anywhere gives nothing beyond the cut")
  func cut() {
    for length in 0..<Self.message.count {
      let reader = DNSReader(Array(Self.message.prefix(length)))
      #expect((reader.header == nil) == (length < 12))
      #expect((reader.question(at: 12) == nil) == (length < 28))
      #expect(reader.record(at: 28) == nil)
    }
  }

  @Test(
    "a pointer that leads forward, to itself or in a circle is no name",
    arguments: [
      [0xc0, 0], [0xc0, 2, 1, 97, 0], [1, 97, 0xc0, 0], [0xc0, 2, 0xc0, 0], [0xc0], [0x40, 0], [0x80, 1],
    ] as [[UInt8]])
  func noName(_ bytes: [UInt8]) {
    #expect(DNSReader(bytes).name(at: 0) == nil)
  }

  @Test("a name of 255 octets is read, a longer one is not")
  func longest() {
    let labels = [63, 63, 63].flatMap { [UInt8($0)] + [UInt8](repeating: 97, count: $0) }
    let longest = labels + [61] + [UInt8](repeating: 97, count: 61) + [0]
    #expect(DNSReader(longest).name(at: 0)?.count == 255)
    #expect(DNSReader(labels + [62] + [UInt8](repeating: 97, count: 62) + [0]).name(at: 0) == nil)
  }

  @Test("any octets and any offset are answered with something or nothing")
  func anything() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<10_000 {
      let reader = DNSReader((0..<Int.random(in: 0...64, using: &random)).map { _ in UInt8.random(in: 0...255) })
      let offset = Int.random(in: -3...70, using: &random)
      _ = reader.header
      _ = reader.question(at: offset)
      if let record = reader.record(at: offset) { #expect(record.data.upperBound <= reader.bytes.count) }
      if let name = DNSName(reader, at: offset) {
        #expect(name.wire.count <= 255)
        #expect(DNSName(name.description) == name)
      }
    }
    #expect(DNSReader([]).word(.max) == nil && DNSReader([]).longWord(.min) == nil)
  }
}
