import ReachCore
import ReachTestSupport
import Testing

@testable import ReachDiscovery

/// What answers with SRV records come to.
@Suite struct ServiceRecordsTests {
  private static let question = Wire.question("_db._tcp.example", 33)

  private static func answer(_ records: [Wire.Record], code: UInt16 = 0) -> [UInt8] {
    Wire.message(id: 1, flags: Wire.Flags.response | code, question: question, answers: records)
  }

  private static func record(_ data: [UInt8], ttl: UInt32 = 300) -> Wire.Record {
    Wire.Record(owner: Wire.questionName, type: 33, ttl: ttl, data: data)
  }

  private static func service(_ priority: UInt16, _ port: UInt16, _ name: [UInt8], ttl: UInt32 = 300) -> Wire.Record {
    record(Wire.word(priority) + Wire.word(7) + Wire.word(port) + name, ttl: ttl)
  }

  @Test("each record is a host with a port, by priority and name, with the smallest TTL on the way")
  func reads() throws {
    let records = try ServiceRecords(
      Self.answer([
        Wire.alias(Wire.questionName, to: Wire.name("other.example"), ttl: 60),
        Self.service(20, 80, Wire.name("a.example")), Self.service(10, 443, Wire.name("C.example")),
        Self.service(10, 80, Wire.name("b.example"), ttl: 90), Self.service(10, 80, Wire.name("b.example")),
        Wire.address(IPAddress(ipv4: 1)),
      ]))
    #expect(records.targets == ["b.example:80", "c.example:443", "a.example:80"])
    #expect(records.ttl == .seconds(60))
  }

  @Test("the root says that there is no such service, and no such name is no target")
  func nothing() throws {
    #expect(try ServiceRecords(Self.answer([Self.service(0, 80, [0])])).targets == [])
    #expect(try ServiceRecords(Self.answer([], code: 3)) == ServiceRecords(Self.answer([])))
    #expect(try ServiceRecords(Self.answer([Self.service(0, 80, Wire.name("a"), ttl: .max)])).ttl == .zero)
  }

  @Test("a failure's code is told, and a malformed answer is none")
  func refusals() {
    #expect { try ServiceRecords(Self.answer([], code: 2)) } throws: { "\($0)".contains("SERVFAIL") }
    for bad in [[], [0], Array(Self.answer([Self.record([0, 1, 2])])), Array(Self.answer([Self.service(1, 1, [63])]))] {
      #expect(throws: ServiceRecords.Refusal.self) { try ServiceRecords(bad) }
    }
    let whole = Self.answer([Self.service(1, 1, Wire.name("a.example"))])
    for length in 0..<whole.count { _ = try? ServiceRecords(Array(whole[..<length])) }
  }
}

/// When sources are asked again.
@Suite struct RefreshPaceTests {
  @Test("a success waits for the interval give or take a tenth, failures come back sooner and then ever later")
  func waits() {
    var pace = RefreshPace()
    let minute = Duration.seconds(60)
    #expect(pace.wait(afterSuccess: true, interval: minute, chance: 0) == .seconds(54))
    #expect(pace.wait(afterSuccess: true, interval: minute, chance: 1) == .seconds(66))
    var waits: [Duration] = []
    for _ in 0..<6 { waits.append(pace.wait(afterSuccess: false, interval: minute, chance: 0.5)) }
    #expect(waits == [5, 10, 20, 40, 60, 60].map { .seconds($0) })
    #expect(pace.wait(afterSuccess: true, interval: minute, chance: 0.5) == minute)
    #expect(pace.failures == 0)
    #expect(pace.wait(afterSuccess: false, interval: .seconds(1), chance: 0.5) == .seconds(1))
    for _ in 0..<1000 { _ = pace.wait(afterSuccess: false, interval: minute, chance: 9) }
  }

  @Test("a TTL is an interval of at least five seconds and at most five minutes")
  func ttl() {
    #expect(RefreshPace.interval(ofTTL: .zero) == .seconds(5))
    #expect(RefreshPace.interval(ofTTL: .seconds(77)) == .seconds(77))
    #expect(RefreshPace.interval(ofTTL: .seconds(86_400)) == .seconds(300))
    #expect(RefreshPace.interval(ofTTL: nil) == .seconds(30))
  }
}
