import ReachCore
import Testing

@testable import DNSProbe

@Suite struct QueryPlanTests {
  static let start = Instant(nanoseconds: 1_000_000_000)
  static let address = IPAddress(ipv4: 0xc000_0201)

  static func plan(_ servers: Int, tries: Int = 2, budget: Duration = .seconds(5)) -> QueryPlan {
    QueryPlan(servers: servers, tries: tries, transport: .udp, usesEDNS: true, budget: budget, now: start)
  }

  @Test("a silent server is followed by the next after a step, and asked again in its turn")
  func turns() {
    var plan = Self.plan(2)
    var asked = [plan.begin(at: Self.start)?.server]
    for _ in 0..<3 {
      let wake = plan.wake ?? .distantFuture
      #expect(plan.advance(to: wake.advanced(byNanoseconds: -1)) == nil)
      asked.append(plan.advance(to: wake)?.server)
    }
    #expect(asked == [0, 1, 0, 1])
    #expect(plan.wake == nil)
    #expect(plan.verdictForNow() == .failed(.dnsTimeout))
  }

  @Test("steps share out the time: all tries come within it, no step is under 50 ms or over a second")
  func steps() {
    #expect(Self.plan(1, tries: 3, budget: .seconds(2)).step == .milliseconds(500))
    #expect(Self.plan(1, tries: 3, budget: .seconds(60)).step == .seconds(1))
    #expect(Self.plan(3, tries: 3, budget: .milliseconds(100)).step == .milliseconds(50))
  }

  @Test("a late answer to an early query counts")
  func lateAnswer() {
    var plan = Self.plan(1)
    _ = plan.begin(at: Self.start)
    _ = plan.advance(to: Self.start.advanced(by: .seconds(2)))
    _ = plan.receive(.addresses([Self.address], ttl: 5), for: 0, at: Self.start.advanced(by: .seconds(3)))
    #expect(plan.verdict == .addresses([Self.address], ttl: 5))
  }

  @Test("a server that fails hands over to the next at once, and is not asked again")
  func failover() {
    var plan = Self.plan(2)
    _ = plan.begin(at: Self.start)
    #expect(plan.receive(.failed(.dnsServFail), for: 0, at: Self.start)?.server == 1)
    #expect(plan.advance(to: Self.start.advanced(by: .seconds(1)))?.server == 1)
    #expect(plan.verdictForNow() == .failed(.dnsServFail))
    #expect(plan.receive(.failed(.dnsRefused), for: 1, at: Self.start.advanced(by: .seconds(1))) == nil)
    #expect(plan.verdict == .failed(.dnsServFail))
  }

  @Test("with every server failed there is nothing to wait for, and the most telling reason stands")
  func allFailed() {
    var plan = Self.plan(3)
    _ = plan.begin(at: Self.start)
    _ = plan.receive(.unreachable(FaultCode(errno: 111)), for: 0, at: Self.start)
    _ = plan.receive(.failed(.dnsRefused), for: 1, at: Self.start)
    #expect(plan.verdict == nil)
    _ = plan.receive(.failed(.dnsMalformed), for: 2, at: Self.start)
    #expect(plan.verdict == .failed(.dnsRefused))
  }

  @Test("no data and no such name are believed at once", arguments: [DNSReply.noData, .nxDomain])
  func negatives(reply: DNSReply) {
    var plan = Self.plan(2)
    _ = plan.begin(at: Self.start)
    #expect(plan.receive(reply, for: 0, at: Self.start) == nil)
    #expect(plan.verdict == (reply == .noData ? .noData : .nxDomain))
  }

  @Test("FORMERR is met by asking the same server without EDNS, once")
  func withoutEDNS() {
    var plan = Self.plan(1)
    #expect(plan.begin(at: Self.start)?.usesEDNS == true)
    let again = plan.receive(.formatError, for: 0, at: Self.start)
    #expect(again?.usesEDNS == false)
    #expect(again?.server == 0)
    #expect(plan.receive(.formatError, for: 1, at: Self.start) == nil)
    #expect(plan.verdict == .failed(.dnsFormErr))
  }

  @Test("truncation is met by asking the same server over TCP, and what fails there is a truncated answer")
  func overTCP() {
    for failure in [DNSReply.unreachable(FaultCode(errno: 111)), .truncated] {
      var plan = Self.plan(1)
      _ = plan.begin(at: Self.start)
      let again = plan.receive(.truncated, for: 0, at: Self.start)
      #expect(again?.transport == .tcp)
      #expect(plan.verdictForNow() == .failed(.dnsTruncated))
      #expect(plan.wake == nil)
      #expect(plan.receive(failure, for: 1, at: Self.start) == nil)
      #expect(plan.verdict == .failed(.dnsTruncated))
    }
  }

  @Test("a fault of this host outranks what servers failed with, not what one answered")
  func faults() {
    let fault = LocalFault(errno: 24)
    var plan = Self.plan(2)
    _ = plan.begin(at: Self.start)
    _ = plan.receive(.fault(fault), for: 0, at: Self.start)
    #expect(plan.verdictForNow() == .fault(fault))
    _ = plan.receive(.failed(.dnsServFail), for: 1, at: Self.start)
    #expect(plan.verdict == .fault(fault))
  }

  @Test("no server at all is no query at all")
  func noServers() {
    var plan = Self.plan(0)
    #expect(plan.begin(at: Self.start) == nil)
    #expect(plan.wake == nil)
  }
}
