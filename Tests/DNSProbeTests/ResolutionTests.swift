import ReachCore
import Testing

@testable import DNSProbe

@Suite struct ResolutionTests {
  static let start = Instant(nanoseconds: 1_000_000_000)
  static let deadline = start.advanced(by: .seconds(4))
  static let address = IPAddress(ipv4: 0xc000_0201)
  static let address6 = IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: 1)
  static let found = DNSReply.addresses([address], ttl: 60)
  static let found6 = DNSReply.addresses([address6], ttl: 30)

  /// A resolution that has begun, with the orders it began with: IPv6 first.
  static func begun(_ names: [String] = ["a.test"]) -> (Resolution, [Resolution.Order]) {
    let rules = Resolution.Rules(families: [.ipv6, .ipv4], servers: 1, tries: 3, transport: .udp, usesEDNS: true)
    var resolution = Resolution(names: names, rules: rules, now: start, deadline: deadline)
    var orders: [Resolution.Order] = []
    resolution.begin(at: start, &orders)
    return (resolution, orders)
  }

  static func after(_ milliseconds: Int) -> Instant { start.advanced(by: .milliseconds(milliseconds)) }

  @Test("both families are asked at once")
  func sideBySide() {
    let (_, orders) = Self.begun()
    #expect(orders.map(\.question.family) == [.ipv6, .ipv4])
  }

  @Test("both answers together make the outcome, with the smaller TTL")
  func bothAnswer() {
    var (resolution, orders) = Self.begun()
    resolution.receive(Self.found, for: orders[1].ticket, at: Self.after(1), &orders)
    #expect(resolution.outcome == nil)
    resolution.receive(Self.found6, for: orders[0].ticket, at: Self.after(2), &orders)
    let outcome = resolution.outcome ?? []
    #expect(Resolution.combined(outcome) == .addresses([Self.address6, Self.address], ttl: 30))
  }

  @Test("a family that stays silent delays a good one by 200 ms, or by as long again as that took, not by more")
  func grace() {
    for (arrival, end) in [(1, 201), (300, 600), (3000, 4000)] {
      var (resolution, orders) = Self.begun()
      resolution.receive(Self.found, for: orders[1].ticket, at: Self.after(arrival), &orders)
      #expect(resolution.wake <= Self.after(end))
      resolution.advance(to: Self.after(end - 1), &orders)
      #expect(resolution.outcome == nil)
      resolution.advance(to: Self.after(end), &orders)
      #expect(resolution.outcome == [.failed(.dnsTimeout), .addresses([Self.address], ttl: 60)])
    }
  }

  @Test("no data in one family says nothing of the other")
  func noDataWaits() {
    var (resolution, orders) = Self.begun()
    resolution.receive(.noData, for: orders[0].ticket, at: Self.after(1), &orders)
    resolution.advance(to: Self.after(3999), &orders)
    #expect(resolution.outcome == nil)
    resolution.advance(to: Self.deadline, &orders)
    #expect(resolution.outcome == [.noData, .failed(.dnsTimeout)])
  }

  @Test("the deadline ends it, and may be put off")
  func deadline() {
    var (resolution, orders) = Self.begun()
    resolution.deadline = Self.after(9000)
    resolution.advance(to: Self.deadline, &orders)
    #expect(resolution.outcome == nil)
    resolution.advance(to: Self.after(9000), &orders)
    #expect(resolution.outcome == [.failed(.dnsTimeout), .failed(.dnsTimeout)])
  }

  @Test("silence is met by asking again")
  func asksAgain() {
    var (resolution, orders) = Self.begun()
    orders = []
    resolution.advance(to: Self.after(1000), &orders)
    #expect(orders.map(\.query.attempt) == [1, 1])
    #expect(resolution.overdue(at: Self.after(1000)).map(\.attempt) == [0, 0])
  }

  @Test("a name that is not there leads to the next of the search list; the list's end to what was seen")
  func searchList() {
    var (resolution, orders) = Self.begun(["a.one.test", "a.two.test"])
    for (reply, index) in [(DNSReply.noData, 0), (.nxDomain, 1)] {
      resolution.receive(reply, for: orders[index].ticket, at: Self.after(1), &orders)
    }
    #expect(orders.dropFirst(2).map(\.question.name) == ["a.two.test", "a.two.test"])
    resolution.receive(.noData, for: orders[0].ticket, at: Self.after(2), &orders)
    resolution.receive(.nxDomain, for: orders[2].ticket, at: Self.after(2), &orders)
    resolution.receive(.nxDomain, for: orders[3].ticket, at: Self.after(2), &orders)
    #expect(resolution.outcome == [.noData, .noData])
  }

  @Test("a server that fails ends the search: which name it would have been is not known")
  func searchStops() {
    var (resolution, orders) = Self.begun(["a.one.test", "a.two.test"])
    for order in orders { resolution.receive(.failed(.dnsServFail), for: order.ticket, at: Self.after(1), &orders) }
    #expect(resolution.outcome == [.failed(.dnsServFail), .failed(.dnsServFail)])
  }

  @Test(
    "families combine: addresses first, then what is certain of the name, then the transient one",
    arguments: [
      ([.noData, .addresses([address], ttl: 1)], .addresses([address], ttl: 1)),
      ([.nxDomain, .nxDomain], .nxDomain), ([.nxDomain, .noData], .noData), ([.noData, .noData], .noData),
      ([.noData, .failed(.dnsTimeout)], .failed(.dnsTimeout)), ([.nxDomain, .failed(.dnsTimeout)], .nxDomain),
      ([.failed(.dnsTimeout), .failed(.dnsRefused)], .failed(.dnsRefused)),
      ([.failed(.dnsRefused), .fault(LocalFault(errno: 24))], .fault(LocalFault(errno: 24))),
    ] as [([QueryPlan.Verdict], QueryPlan.Verdict)])
  func combination(verdicts: [QueryPlan.Verdict], expected: QueryPlan.Verdict) {
    #expect(Resolution.combined(verdicts) == expected)
    #expect(Resolution.combined(verdicts.reversed()) == expected)
  }
}
