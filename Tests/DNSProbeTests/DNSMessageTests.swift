import ReachCore
import ReachTestSupport
import Testing

@testable import DNSProbe

@Suite struct DNSMessageTests {
  static let question = DNSQuestion(name: "www.example.test", family: .ipv4) ?? unfitting()
  static let question6 = DNSQuestion(name: "www.example.test", family: .ipv6) ?? unfitting()
  static let section = Wire.question("www.example.test", 1)

  static func unfitting() -> DNSQuestion { preconditionFailure("the name fits") }

  static func reply(
    flags: UInt16 = Wire.Flags.recursionAvailable, code: UInt16 = 0, _ records: [Wire.Record] = [],
    question: [UInt8]? = section
  ) -> DNSReply {
    let bytes = Wire.message(
      id: 7, flags: Wire.Flags.response | flags | code, question: question, answers: records)
    return DNSMessage(bytes).reply(to: Self.question)
  }

  @Test("addresses come in the order of the answer, none twice, with the smallest TTL")
  func addresses() {
    let first = IPAddress(ipv4: 0xc000_0201)
    let second = IPAddress(ipv4: 0xc000_0202)
    let reply = Self.reply([
      Wire.address(first, ttl: 300), Wire.address(second, ttl: 60), Wire.address(first, ttl: 300),
    ])
    #expect(reply == .addresses([first, second], ttl: 60))
  }

  @Test("an IPv6 address is read from an AAAA record")
  func ipv6() {
    let address = IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: 1)
    let bytes = Wire.message(
      id: 7, flags: 0x8180, question: Wire.question("www.example.test", 28), answers: [Wire.address(address)])
    #expect(DNSMessage(bytes).reply(to: Self.question6) == .addresses([address], ttl: 300))
  }

  @Test("aliases are followed in whatever order they stand, and their TTLs count")
  func aliases() {
    let address = IPAddress(ipv4: 0xc000_0201)
    let middle = Wire.name("middle.test")
    let end = Wire.name("END.test")
    let reply = Self.reply([
      Wire.address(address, ttl: 300, owner: Wire.name("end.TEST")), Wire.alias(middle, to: end, ttl: 30),
      Wire.alias(Wire.questionName, to: middle, ttl: 90),
    ])
    #expect(reply == .addresses([address], ttl: 30))
  }

  @Test("an alias without an address is no data")
  func aliasToNothing() {
    #expect(Self.reply([Wire.alias(Wire.questionName, to: Wire.name("gone.test"), ttl: 30)]) == .noData)
  }

  @Test("aliases in a circle are malformed")
  func aliasLoop() {
    let other = Wire.name("other.test")
    let reply = Self.reply([
      Wire.alias(Wire.questionName, to: other, ttl: 30), Wire.alias(other, to: Wire.questionName, ttl: 30),
    ])
    #expect(reply == .failed(.dnsMalformed))
  }

  @Test("records of other names, types and classes are passed over")
  func otherRecords() {
    let address = IPAddress(ipv4: 0xc000_0201)
    var chaos = Wire.address(IPAddress(ipv4: 1))
    chaos.recordClass = 3
    let reply = Self.reply([
      Wire.address(IPAddress(ipv4: 2), owner: Wire.name("else.test")), chaos,
      Wire.Record(owner: Wire.questionName, type: 16, ttl: 1, data: [1, 65]), Wire.address(address),
    ])
    #expect(reply == .addresses([address], ttl: 300))
  }

  @Test("a TTL with its top bit set counts as 0")
  func hugeTTL() {
    let address = IPAddress(ipv4: 0xc000_0201)
    #expect(Self.reply([Wire.address(address, ttl: 0x8000_0000)]) == .addresses([address], ttl: 0))
  }

  @Test(
    "each response code is told apart",
    arguments: [
      (1, DNSReply.formatError), (2, .failed(.dnsServFail)), (3, .nxDomain), (4, .failed(.dnsNotImp)),
      (5, .failed(.dnsRefused)), (9, .failed(.dnsTransient)),
    ] as [(UInt16, DNSReply)])
  func codes(code: UInt16, expected: DNSReply) {
    #expect(Self.reply(code: code) == expected)
  }

  @Test("a failure may come without the question, an answer may not")
  func questionLeftOut() {
    #expect(Self.reply(code: 1, question: nil) == .formatError)
    #expect(Self.reply(code: 5, question: nil) == .failed(.dnsRefused))
    #expect(Self.reply(code: 0, question: nil) == .failed(.dnsMalformed))
    #expect(Self.reply(code: 3, question: nil) == .failed(.dnsMalformed))
  }

  @Test("an answer to another question is malformed; letters' case makes no difference")
  func otherQuestion() {
    #expect(Self.reply(question: Wire.question("www.example.test", 28)) == .failed(.dnsMalformed))
    #expect(Self.reply(question: Wire.question("www.example.org", 1)) == .failed(.dnsMalformed))
    #expect(Self.reply(question: Wire.question("WWW.Example.TEST", 1)) == .noData)
  }

  @Test("a query sent back, and another operation, are malformed")
  func notAnAnswer() {
    let query = Wire.message(id: 7, flags: 0x0100, question: Self.section)
    #expect(DNSMessage(query).reply(to: Self.question) == .failed(.dnsMalformed))
    #expect(Self.reply(flags: 0x2800) == .failed(.dnsMalformed))
  }

  @Test("a truncated answer is just that, whatever it holds")
  func truncated() {
    #expect(Self.reply(flags: Wire.Flags.truncated, [Wire.address(IPAddress(ipv4: 1))]) == .truncated)
  }

  @Test("a referral is no word on the name; an empty answer with authority or recursion is")
  func referral() {
    #expect(Self.reply(flags: 0) == .failed(.dnsTransient))
    #expect(Self.reply(flags: Wire.Flags.authoritative) == .noData)
    #expect(Self.reply(flags: Wire.Flags.recursionAvailable) == .noData)
  }

  @Test("an address of the wrong length, a count too high and a cut record are malformed")
  func broken() {
    let short = Wire.Record(owner: Wire.questionName, type: 1, ttl: 1, data: [1, 2, 3])
    #expect(Self.reply([short]) == .failed(.dnsMalformed))
    let missing = Wire.message(id: 7, flags: 0x8180, question: Self.section, answerCount: 1)
    #expect(DNSMessage(missing).reply(to: Self.question) == .failed(.dnsMalformed))
    let whole = Wire.message(
      id: 7, flags: 0x8180, question: Self.section, answers: [Wire.address(IPAddress(ipv4: 1))])
    for count in 0..<whole.count {
      #expect(DNSMessage(Array(whole[..<count])).reply(to: Self.question) == .failed(.dnsMalformed))
    }
  }

  @Test("compression pointers that lead forward, to themselves or in circles end")
  func pointers() {
    for pointer: [UInt8] in [[0xc0, 0x22], [0xc0, 0xff], [0xff, 0xff], [0xc0, 0x21]] {
      // Not "no data": an owner that cannot be read proves nothing.
      #expect(Self.reply([Wire.address(IPAddress(ipv4: 1), owner: pointer)]) == .failed(.dnsMalformed))
    }
    let selfReference = Wire.alias(Wire.questionName, to: [0xc0, 0x2e], ttl: 1)
    #expect(Self.reply([selfReference]) == .failed(.dnsMalformed))
  }

  @Test("no bytes at all can make the reader trap, nor make it take long", .timeLimit(.minutes(4)))
  func fuzz() {
    var generator = SystemRandomNumberGenerator()
    let seeds = [
      Wire.message(id: 7, flags: 0x8180, question: Self.section, answers: [Wire.address(IPAddress(ipv4: 1))]),
      Wire.message(
        id: 7, flags: 0x8180, question: Self.section,
        answers: [
          Wire.alias(Wire.questionName, to: Wire.name("a.b.c") + [0xc0, 0x10], ttl: 1),
          Wire.alias([0xc0, 0x10], to: [0xc0, 0x0c], ttl: 2), Wire.address(IPAddress(ipv4: 1)),
        ]),
    ]
    for round in 0..<20_000 {
      var bytes: [UInt8]
      if round % 4 == 0 {
        let count = Int.random(in: 0...600, using: &generator)
        bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        if bytes.count > 12 { bytes.replaceSubrange(2..<6, with: [0x81, 0x80, 0, 1]) }
      } else {
        bytes = seeds[round % 2]
        for _ in 0..<Int.random(in: 1...6, using: &generator) {
          bytes[Int.random(in: 2..<bytes.count, using: &generator)] = UInt8.random(in: .min ... .max, using: &generator)
        }
        bytes.removeLast(Int.random(in: 0...(bytes.count / 4), using: &generator))
      }
      if case .addresses(let addresses, _) = DNSMessage(bytes).reply(to: Self.question) {
        #expect(addresses.allSatisfy { $0.family == .ipv4 })
      }
    }
  }

  @Test("names that fit in no message are refused")
  func names() {
    #expect(DNSQuestion(name: String(repeating: "a", count: 64) + ".test", family: .ipv4) == nil)
    #expect(DNSQuestion(name: "a..test", family: .ipv4) == nil)
    #expect(DNSQuestion(name: "", family: .ipv4) == nil)
    let longest = Array(repeating: String(repeating: "a", count: 63), count: 3).joined(separator: ".")
    #expect(DNSQuestion(name: longest + "." + String(repeating: "b", count: 61), family: .ipv4) != nil)
    #expect(DNSQuestion(name: longest + "." + String(repeating: "b", count: 62), family: .ipv4) == nil)
  }
}
