import ReachCore
import ReachTestSupport
import Testing

@testable import ReachBlackbox

@Suite struct DNSAnswerTests {
  /// What blackbox_exporter 0.23 has read in a message.
  struct Known: Sendable, CustomTestStringConvertible {
    var message: [UInt8] = []
    var lines: [String] = []
    var testDescription: String { hexadecimal(message) }
  }

  /// `answers.txt`: a line with each message, then those with what that exporter's page for debugging says of it.
  static let known: [Known] = {
    var all: [Known] = []
    let text = (try? Repository.text("Tests/ReachBlackboxTests/answers.txt")) ?? ""
    for line in text.split(separator: "\n") {
      if line.hasPrefix("message ") {
        all.append(Known(message: octets(line.dropFirst(8))))
      } else if !all.isEmpty {
        all[all.count - 1].lines.append(String(line))
      }
    }
    return all
  }()

  @Test("every record of every section reads as blackbox_exporter prints it, and what it refuses is refused")
  func asBlackboxExporter() {
    #expect(Self.known.count > 400)
    for known in Self.known {
      let found = Self.lines(DNSAnswer(DNSReader(known.message)))
      #expect(found == known.lines, "\(known.testDescription)")
    }
  }

  @Test("a message that was cut or changed anywhere is answered with something or nothing")
  func mutated() {
    var random = SystemRandomNumberGenerator()
    for round in 0..<5_000 {
      guard var bytes = Self.known.randomElement(using: &random)?.message else { return }
      if round % 4 == 0 { bytes.removeLast(.random(in: 0...bytes.count, using: &random)) }
      for _ in 0..<Int.random(in: 1...4, using: &random) {
        guard let place = bytes.indices.randomElement(using: &random) else { break }
        bytes[place] = .random(in: 0...255, using: &random)
      }
      _ = DNSAnswer(DNSReader(bytes))
    }
  }

  @Test("any octets are answered with something or nothing")
  func anything() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<10_000 {
      var bytes = (0..<Int.random(in: 0...80, using: &random)).map { _ in UInt8.random(in: 0...255, using: &random) }
      // Small counts, so that more than the first question is looked at.
      for place in [4, 6, 8, 10] where place < bytes.count { bytes[place] = 0 }
      _ = DNSAnswer(DNSReader(bytes))
    }
  }

  @Test("an OPT record counts as an additional one, and has the upper bits of the code")
  func extendedCode() throws {
    var opt = Wire.Record(owner: [0], type: 41, ttl: 0x0100_8000, data: [0, 10, 0, 2, 0xab, 0xcd])
    opt.recordClass = 1232
    let answer = try #require(DNSAnswer(DNSReader(Self.message(additionals: [opt]))))
    #expect(answer.code.description == "BADSIG")
    #expect(
      answer.additionals.map(\.text) == [
        "\n;; OPT PSEUDOSECTION:\n; EDNS: version 0; flags: do; udp: 1232\n; COOKIE: abcd"
      ])
  }

  @Test(
    "what later versions of the library print otherwise is as they print it",
    arguments: [
      (28, "00000000000000000000ffffc0000201", "IN\tAAAA\t::ffff:192.0.2.1"), (20, "023132", "IN\tISDN\t\"12\" \"\""),
      (30, "016100000140", "IN\tNXT\ta. A"),
    ] as [(UInt16, String, String)])
  func later(_ type: UInt16, _ data: String, _ expected: String) {
    let bytes = Self.message(additionals: [Wire.Record(owner: [0], type: type, ttl: 5, data: Self.octets(data[...]))])
    #expect(DNSAnswer(DNSReader(bytes))?.additionals.first?.text == ".\t5\t" + expected)
  }

  @Test("an answer without a question may be one to the query, one with another question is not")
  func matching() throws {
    let query = DNSQuestionMessage(
      name: try #require(DNSName("Example.test")), type: .a, recordClass: .internet, wantsRecursion: true)
    let question = Wire.question("eXample.TEST", 1)
    func isAnswered(_ bytes: [UInt8]) -> Bool { query.isAnswered(by: DNSReader(bytes), id: 7) }
    #expect(isAnswered(Wire.message(id: 7, flags: 0x8180, question: question)))
    #expect(isAnswered(Wire.message(id: 7, flags: 0x8185, question: nil)))
    #expect(isAnswered([0, 7, 0x81, 0x85, 0, 1, 0, 0, 0, 0, 0, 0]))
    #expect(!isAnswered(Wire.message(id: 8, flags: 0x8180, question: question)))
    #expect(!isAnswered(Wire.message(id: 7, flags: 0x0180, question: question)))
    #expect(!isAnswered(Wire.message(id: 7, flags: 0x8980, question: question)))
    #expect(!isAnswered(Wire.message(id: 7, flags: 0x8180, question: Wire.question("example.test", 28))))
    #expect(!isAnswered(Wire.message(id: 7, flags: 0x8180, question: Wire.question("example.tess", 1))))
    #expect(!isAnswered(query.bytes(id: 7)))
    #expect(query.bytes(id: 0x0102) == [1, 2, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0] + Wire.question("Example.test", 1))
  }

  // MARK: Texts

  private static func lines(_ answer: DNSAnswer?) -> [String] {
    guard let answer else { return ["unreadable"] }
    var lines = ["code \(answer.code)"]
    for (name, records) in [
      ("answer", answer.answers), ("authority", answer.authorities), ("additional", answer.additionals),
    ] {
      for record in records { lines.append("\(name) \(escaped(record.text))") }
    }
    lines.append("serial \(answer.answers.last { $0.type == .soa }?.serial ?? 0)")
    lines.append("counts \(answer.answers.count) \(answer.authorities.count) \(answer.additionals.count)")
    return lines
  }

  private static func octets(_ digits: Substring) -> [UInt8] {
    let values = digits.utf8.map { $0 < 58 ? $0 - 48 : $0 - 87 }
    return stride(from: 0, to: values.count - 1, by: 2).map { values[$0] << 4 | values[$0 + 1] }
  }

  private static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\t": result += "\\t"
      case "\n": result += "\\n"
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static func message(additionals: [Wire.Record]) -> [UInt8] {
    var bytes = Wire.message(id: 1, flags: 0x8180, question: Wire.question("x", 1), answers: additionals)
    bytes.replaceSubrange(6..<12, with: [0, 0, 0, 0, 0, UInt8(additionals.count)])
    return bytes
  }
}
