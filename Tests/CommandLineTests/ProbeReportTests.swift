import ReachCore
import Testing

@testable import reachd

@Suite struct ProbeReportTests {
  private let gateway = IPAddress(ipv4: 0xc000_0201)
  private let source = IPAddress(ipv4: 0xc000_0207)
  private let address = IPAddress(ipv4: 0xc633_640a)

  private func report(
    _ name: String, _ candidates: [Candidate], dns: DNSFinding? = nil, runs: [ProbeRun], verdict: Verdict,
    port: UInt16? = 443, isDecorated: Bool = false
  ) -> String {
    let start = Instant(nanoseconds: 0)
    return ProbeReport(
      target: Target(name: name, kind: .host(HostName(query: name, display: name)), port: port),
      report: RoundReport(
        startedAt: start, finishedAt: start,
        findings: RoundFindings(probes: [.dns, .route, .link, .tcp], dns: dns, candidates: candidates), runs: runs),
      verdict: verdict, isDecorated: isDecorated
    ).text
  }

  private var usable: LinkFinding { LinkFinding(interface: "eth0", index: 2, medium: .wired, state: .usable) }
  private var routed: RouteFinding {
    RouteFinding(.unicast, interfaceIndex: 2, interface: "eth0", gateway: gateway, source: source)
  }

  @Test("a reachable name has a line a layer, then flags, status and reason")
  func reachable() {
    let tcp = TCPFinding(.open, rtt: .microseconds(11_200), duration: .microseconds(11_200))
    let text = report(
      "www.example.com", [Candidate(address, route: routed, link: usable, tcp: tcp)],
      dns: DNSFinding(.resolved, addresses: [address], ttl: .seconds(300), servers: [gateway], attempts: 1),
      runs: [
        ProbeRun(probe: "dns", outcome: .success, duration: .microseconds(12_410)),
        ProbeRun(probe: "route", outcome: .success, duration: .microseconds(31)),
        ProbeRun(probe: "link", outcome: .success, duration: .microseconds(2)),
        ProbeRun(probe: "tcp", outcome: .success, duration: .microseconds(11_200)),
      ], verdict: Verdict(flags: [.reachable], rule: .afnetworking, reason: .tcpOpen))
    #expect(
      text == """
        www.example.com
          ok   dns     12.4 ms   198.51.100.10, TTL 5m, from 192.0.2.1
          ok   route     31 µs   via 192.0.2.1 dev eth0 src 192.0.2.7
          ok   link       2 µs   eth0 (wired) usable
          ok   tcp     11.2 ms   198.51.100.10:443 open, round trip 11.2 ms
          -R -------  ReachableViaWiFi  tcp_open (connected)

        """)
  }

  @Test("a broken layer is named, and those above it are said not to have run")
  func broken() {
    let lost = LinkFinding(interface: "eth0", index: 2, medium: .wired, state: .noCarrier)
    let text = report(
      "198.51.100.10:443", [Candidate(address, route: routed, link: lost)],
      runs: [
        ProbeRun(probe: "route", outcome: .success, duration: .microseconds(31)),
        ProbeRun(probe: "link", outcome: .failure(.carrierLost), duration: .microseconds(2)),
        ProbeRun(probe: "tcp", outcome: .skipped),
      ], verdict: Verdict(flags: [], rule: .afnetworking, reason: .carrierLost))
    #expect(
      text == """
        198.51.100.10:443
          ok   route     31 µs   via 192.0.2.1 dev eth0 src 192.0.2.7
          FAIL link       2 µs   eth0 (wired) carrier_lost: the interface has no carrier
          -    tcp               not run: link had decided
          -- -------  NotReachable  carrier_lost (the interface has no carrier)

        """)
  }

  @Test("several addresses have a line each, and a fault of this host says what would help")
  func several() {
    let refused = RouteFinding(.refused(.noRoute))
    let other = IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: 10)
    let fault = LocalFault(errno: 24, detail: "out of descriptors: raise LimitNOFILE")
    let text = report(
      "www.example.com",
      [Candidate(other, route: refused), Candidate(address, route: routed, link: usable)],
      runs: [
        ProbeRun(probe: "route", outcome: .success, duration: .microseconds(40)),
        ProbeRun(probe: "tcp", outcome: .error(fault)),
      ], verdict: Verdict(flags: nil, rule: .afnetworking, reason: fault.reason))
    #expect(
      text == """
        www.example.com
          ok   route     40 µs   2001:db8::a no_route: there is no route
                                 198.51.100.10 via 192.0.2.1 dev eth0 src 192.0.2.7
          FAIL tcp               probe_error:EMFILE: out of descriptors: raise LimitNOFILE
          ?? ???????  Unknown  probe_error:EMFILE (this host could not probe (EMFILE))

        """)
  }

  @Test("colour and marks are for terminals only")
  func decorated() {
    let verdict = Verdict(flags: [.reachable], rule: .afnetworking, reason: .routeOK)
    let runs = [ProbeRun(probe: "route", outcome: .success, duration: .microseconds(31))]
    let plain = report("a", [Candidate(address, route: routed)], runs: runs, verdict: verdict)
    let decorated = report("a", [Candidate(address, route: routed)], runs: runs, verdict: verdict, isDecorated: true)
    #expect(!plain.contains("\u{1b}") && !plain.contains("✓"))
    #expect(decorated.contains("\u{1b}[32m✓\u{1b}[0m"))
  }

  @Test(
    "durations have three digits and a unit",
    arguments: [
      (Duration.nanoseconds(1_499), "1 µs"), (.microseconds(999), "999 µs"), (.microseconds(1_204), "1.20 ms"),
      (.microseconds(12_410), "12.4 ms"), (.milliseconds(124), "124 ms"), (.milliseconds(3_071), "3.07 s"),
      (.seconds(300), "5m"), (.seconds(86_400), "24h"), (.seconds(-1), "0 µs"),
    ])
  func durations(duration: Duration, text: String) {
    #expect(DurationText.short(duration) == text)
  }

  @Test(
    "the exit status is 0 when all are reachable, 1 when any is not, 2 when nothing is known of one",
    arguments: [
      ([Status.reachableViaWiFi, .reachableViaWWAN], 0), ([.reachableViaWiFi, .unknown], 2),
      ([.unknown, .notReachable], 1),
      ([], 0),
    ] as [([Status], Int32)])
  func statuses(statuses: [Status], code: Int32) {
    #expect(ProbeCommand.status(of: statuses) == code)
  }
}
