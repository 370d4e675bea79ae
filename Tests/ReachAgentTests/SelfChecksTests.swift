import Glibc
import ReachCore
import ReachLog
import Testing

@testable import ReachAgent

@Suite struct SelfChecksTests {
  private let start = Instant(nanoseconds: 5_000_000_000)
  private let mark = LocalFault(errno: EPERM, detail: "source.mark cannot be set", remedy: "give it CAP_NET_ADMIN")

  private func trouble(_ fault: LocalFault) throws -> SelfChecks.Trouble { try #require(SelfChecks.Trouble(fault)) }

  @Test("a trouble is said once, with every target that met it while it was gathered")
  func gathered() throws {
    var checks = SelfChecks()
    for (index, name) in ["b", "a", "b", "c"].enumerated() {
      checks.note(try trouble(mark), target: name, at: start.advanced(by: .milliseconds(100 * index)))
    }
    #expect(checks.due == start.advanced(by: SelfChecks.gathering))
    #expect(checks.take(at: start.advanced(by: .milliseconds(500))) == [])
    let events = checks.take(at: start.advanced(by: SelfChecks.gathering))
    #expect(
      events == [
        .selfCheck(
          check: "permission", problem: "source.mark cannot be set; this concerns the targets a, b, c",
          remedy: "give it CAP_NET_ADMIN")
      ])
    #expect(checks.due == nil)
  }

  @Test("however many rounds meet it, it is said hourly and no more")
  func hourly() throws {
    var checks = SelfChecks()
    var said: [Int64] = []
    for second in Int64(0)...7_300 {
      let now = start.advanced(by: .seconds(second))
      checks.note(try trouble(mark), target: "a", at: now)
      if let due = checks.due, due <= now, !checks.take(at: now).isEmpty { said.append(second) }
    }
    #expect(said == [1, 3_602, 7_203])
  }

  @Test("a trouble that had been over for a while is news when it comes back")
  func returning() throws {
    var checks = SelfChecks()
    checks.note(try trouble(mark), target: "a", at: start)
    #expect(checks.take(at: start.advanced(by: .seconds(1))).count == 1)
    checks.note(try trouble(mark), target: "a", at: start.advanced(by: .seconds(300)))
    #expect(checks.due == nil)
    checks.note(try trouble(mark), target: "a", at: start.advanced(by: .seconds(1_000)))
    #expect(checks.take(at: start.advanced(by: .seconds(1_001))).count == 1)
  }

  @Test("different settings are different troubles, different words for one are not")
  func kinds() throws {
    var checks = SelfChecks()
    let device = LocalFault(errno: EPERM, detail: "source.interface cannot be set", remedy: "give it CAP_NET_RAW")
    let other = LocalFault(errno: EPERM, detail: "source.mark, for another", remedy: "give it CAP_NET_ADMIN")
    for fault in [mark, device, other] { checks.note(try trouble(fault), target: "t", at: start) }
    #expect(checks.take(at: start.advanced(by: .seconds(1))).count == 2)
  }

  @Test("twenty targets are named, and no more than 64 troubles are held")
  func bounded() throws {
    var checks = SelfChecks()
    for number in 0..<1_000 { checks.note(try trouble(mark), target: "t\(number)", at: start) }
    for number in 0..<1_000 {
      let fault = LocalFault(errno: EPERM, detail: "d", remedy: "r\(number)")
      checks.note(try trouble(fault), target: "t", at: start)
    }
    let events = checks.take(at: start.advanced(by: .seconds(1)))
    #expect(events.count == SelfChecks.capacity)
    let first = try #require(events.first { $0.message.hasPrefix("source.mark") }?.message)
    #expect(first.split(separator: ",").count == 20)
    #expect(first.hasSuffix(" and others"))
  }

  @Test("every fault that somebody can do something about says what, and what only tells of a target is none")
  func faults() throws {
    for code in [EPERM, EMFILE, ENFILE, ENOBUFS, ENOMEM, EADDRNOTAVAIL] {
      let trouble = try trouble(LocalFault(errno: code))
      #expect(!trouble.problem.isEmpty && !trouble.remedy.isEmpty)
    }
    #expect(try trouble(LocalFault(errno: EMFILE)).remedy.contains("LimitNOFILE="))
    #expect(try trouble(LocalFault(.resolverConfig)).check == "resolver")
    #expect(SelfChecks.Trouble(LocalFault(.backendMissing, detail: "tcp")) == nil)
    #expect(SelfChecks.Trouble(LocalFault(.notProbed)) == nil)
    #expect(SelfChecks.Trouble(LocalFault(.backendOverran)) == nil)
  }
}
