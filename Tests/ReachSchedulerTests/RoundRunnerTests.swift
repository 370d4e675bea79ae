import ReachCore
import ReachIO
import ReachProbe
import ReachScheduler
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct RoundRunnerTests {
  private static let v4 = IPAddress(ipv4: 0xc000_0201)
  private static let v6 = IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: 1)
  private static let server = IPAddress(ipv4: 0xc633_6435)

  /// One round of the target with these probes.
  private func round(
    of target: Target = .web, timeout: Duration = .seconds(5), _ probes: [PlannedProbe]
  ) async throws -> RoundReport {
    try await withEventLoop { loop in
      let runner = RoundRunner(target: target, probes: probes, host: try testHost(on: loop))
      return await runner.runOnce(timeout: timeout, grace: .milliseconds(20))
    }
  }

  private func outcomes(_ report: RoundReport) -> [String] {
    report.runs.map { run in
      "\(run.probe) \(run.outcome.name)" + (run.outcome.reason.map { " \($0)" } ?? "")
    }
  }

  @Test("the layers run in order, whatever order they are planned in, and each sees what the ones before found")
  func order() async throws {
    let tcp = ScriptedBackend.tcp()
    let report = try await round([.tcp(tcp), .link(.link()), .route(.route())])
    #expect(outcomes(report) == ["route success", "link success", "tcp success"])
    #expect(report.findings.probes == [.route, .link, .tcp])
    #expect(report.findings.candidates.map(\.address) == [Self.v4])
    #expect(tcp.calls.first?.first?.route?.interface == "eth0")
    #expect(tcp.calls.first?.first?.link?.state == .usable)
    #expect(report.findings.fault == nil)
  }

  @Test("an open connection's duration is the kernel's, not ours")
  func duration() async throws {
    let report = try await round([.tcp(.tcp(.open, duration: .microseconds(7)))])
    #expect(report.runs.first?.duration == .microseconds(7))
  }

  @Test("a name's addresses become the candidates, for each layer")
  func resolved() async throws {
    let finding = DNSFinding(.resolved, addresses: [Self.v4, Self.v6], ttl: .seconds(60), servers: [Self.server])
    let report = try await round(of: .named, [.dns(.dns(finding)), .route(.route()), .link(.link()), .tcp(.tcp())])
    #expect(outcomes(report) == ["dns success", "route success", "link success", "tcp success"])
    #expect(report.findings.candidates.map(\.address) == [Self.v4, Self.v6])
    #expect(report.findings.candidates.allSatisfy { $0.tcp?.result == .open && $0.role == .target })
    #expect(report.findings.dns == finding)
  }

  @Test("an answer from memory counts as no run of dns, a stale one as its failure, and both give candidates")
  func remembered() async throws {
    let cached = DNSFinding(.resolved, addresses: [Self.v4], isCached: true)
    #expect(
      outcomes(try await round(of: .named, [.dns(.dns(cached)), .tcp(.tcp())])) == ["dns skipped", "tcp success"])
    let stale = DNSFinding(.failed(.dnsTimeout), addresses: [Self.v4], isStale: true)
    let report = try await round(of: .named, [.dns(.dns(stale)), .tcp(.tcp())])
    #expect(outcomes(report) == ["dns failure dns_timeout", "tcp success"])
  }

  @Test("of two probes of the tcp layer the worse finding counts for an address, whichever comes first")
  func twoOfOneLayer() async throws {
    let refused = TCPFinding.Result.failed(.tcpRefused)
    for (first, second, expected) in [
      (TCPFinding.Result.open, TCPFinding.Result.open, TCPFinding.Result.open), (.open, refused, refused),
      (refused, .open, refused), (.notRun, .open, .open), (.open, .notRun, .open),
      (.fault(FaultCode(errno: 24)), .open, .fault(FaultCode(errno: 24))),
      (.fault(FaultCode(errno: 24)), refused, refused),
    ] {
      let other = PlannedProbe(name: "greeting", layer: .tcp, backend: ScriptedBackend.tcp(second))
      let report = try await round([.tcp(.tcp(first)), other])
      #expect(report.findings.candidates.first?.tcp?.result == expected)
      #expect(report.runs.map(\.probe) == ["tcp", "greeting"])
    }
  }

  @Test("without addresses the way to the resolver is looked at, and no connection is tried")
  func resolverPath() async throws {
    let tcp = ScriptedBackend.tcp()
    let failed = DNSFinding(.failed(.dnsTimeout), servers: [Self.server])
    let report = try await round(
      of: .named,
      [.dns(.dns(failed)), .route(.route(RouteFinding(.refused(.noRoute)))), .link(.link(.noCarrier)), .tcp(tcp)])
    #expect(report.findings.candidates.map(\.role) == [.resolverPath])
    #expect(report.findings.candidates.map(\.address) == [Self.server])
    #expect(report.findings.candidates.first?.route?.decision == .refused(.noRoute))
    #expect(report.findings.candidates.first?.link?.state == .noCarrier)
    #expect(
      outcomes(report) == [
        "dns failure dns_timeout", "route failure no_route", "link failure carrier_lost", "tcp skipped",
      ])
    #expect(tcp.calls.isEmpty)
  }

  @Test(
    "a resolver on this host, or none that is known, says nothing of the path: the default path stands for it",
    arguments: [[IPAddress(ipv4: 0x7f00_0035)], []])
  func localResolver(servers: [IPAddress]) async throws {
    let failed = DNSFinding(.failed(.dnsServFail), servers: servers)
    let report = try await round(of: .named, [.dns(.dns(failed)), .route(.route())])
    #expect(report.findings.candidates.map { $0.address?.description } == ["9.9.9.9", "203.0.113.1", "::"])
    #expect(report.findings.candidates.allSatisfy { $0.role == .resolverPath })
  }

  @Test(
    "an answer that there is no such name, or no address, needs no path", arguments: [Reason.dnsNXDomain, .dnsNoData])
  func negative(reason: Reason) async throws {
    let finding = DNSFinding(.failed(reason), servers: [Self.server])
    let report = try await round(of: .named, [.dns(.dns(finding)), .route(.route()), .link(.link()), .tcp(.tcp())])
    #expect(outcomes(report) == ["dns failure \(reason)", "route skipped", "link skipped", "tcp skipped"])
    #expect(report.findings.candidates.isEmpty)
    #expect(report.findings.fault == nil)
  }

  @Test("no route, or no usable link, spares the connection, which then counts as skipped and not as failed")
  func shortCircuit() async throws {
    let refused = RouteFinding(.refused(.routeProhibit))
    let noRoute = try await round([.route(.route(refused)), .link(.link()), .tcp(.tcp())])
    #expect(outcomes(noRoute) == ["route failure route_prohibit", "link success", "tcp skipped"])
    #expect(noRoute.findings.candidates.first?.tcp == nil)
    let noCarrier = try await round([.route(.route()), .link(.link(.noCarrier)), .tcp(.tcp())])
    #expect(outcomes(noCarrier) == ["route success", "link failure carrier_lost", "tcp skipped"])
    #expect(noCarrier.runs.last?.duration == nil)
  }

  @Test("a backend that is not loaded makes its part an error and the round's fault, and the others still run")
  func missing() async throws {
    let report = try await round([.route(nil), .link(.link()), .tcp(.tcp())])
    #expect(outcomes(report) == ["route error backend_missing", "link success", "tcp success"])
    #expect(report.findings.fault?.reason == .backendMissing)
    #expect(report.findings.fault?.detail == "route")
  }

  @Test("a fault of dns ends the round, a fault of route does not, and the first fault is the round's")
  func faults() async throws {
    let full = LocalFault(errno: 24, detail: "socket")
    let dns = try await round(of: .named, [.dns(.failing(full)), .route(.route()), .tcp(.tcp())])
    #expect(outcomes(dns) == ["dns error probe_error:EMFILE", "route skipped", "tcp skipped"])
    #expect(dns.findings.fault == full)
    let second = LocalFault(errno: 105)
    let route = try await round([.route(.failing(full)), .link(.link()), .tcp(.failing(second))])
    #expect(
      outcomes(route) == ["route error probe_error:EMFILE", "link success", "tcp error probe_error:ENOBUFS"])
    #expect(route.findings.fault == full)
  }

  @Test("findings that do not run along the candidates are the backend's fault and are not used")
  func misfit() async throws {
    let short = ScriptedBackend { (_, _) throws(LocalFault) in .route([]) }
    let long = ScriptedBackend { (_, _) throws(LocalFault) in .tcp([TCPFinding(.open), TCPFinding(.open)]) }
    let other = ScriptedBackend { (_, _) throws(LocalFault) in .dns(DNSFinding(.resolved)) }
    let report = try await round([.route(short), .link(other), .tcp(long)])
    #expect(report.runs.map(\.outcome.name) == ["error", "error", "error"])
    #expect(report.findings.fault?.reason == .probeError(FaultCode(errno: 71)))
    #expect(
      report.findings.fault?.detail == "backend route answered with 0 route findings where 1 of route were asked for")
    #expect(report.findings.candidates == [Candidate(Self.v4)])
  }

  @Test("a backend that does not come back is given up, what was seen before it stands, and the rest did not run")
  func overrun() async throws {
    let gate = Gate()
    defer { gate.open() }
    let report = try await round(
      timeout: .milliseconds(5), [.route(.route()), .link(.stuck(until: gate)), .tcp(.tcp())])
    #expect(outcomes(report) == ["route success", "link error backend_overran", "tcp skipped"])
    #expect(report.findings.fault == LocalFault(.backendOverran, detail: "link"))
    #expect(report.findings.candidates.first?.route?.isRoutable == true)
  }

  @Test("each kind of target begins with its own candidates, and an interface is looked at by link alone")
  func kinds() async throws {
    let all: [PlannedProbe] = [.link(.link()), .route(.route()), .tcp(.tcp())]
    func candidates(_ kind: Target.Kind) async throws -> [String?] {
      try await round(of: Target(name: "x", kind: kind), all).findings.candidates.map { $0.address?.description }
    }
    #expect(try await candidates(.pair(local: Self.server, remote: Self.v4)) == ["192.0.2.1"])
    #expect(try await candidates(.linkLocal(interface: "eth0")) == ["169.254.0.0"])
    #expect(try await candidates(.defaultPath) == ["9.9.9.9", "203.0.113.1", "::"])
    let report = try await round(of: Target(name: "x", kind: .interface("eth0")), all)
    #expect(report.findings.candidates.map(\.address) == [nil])
    #expect(outcomes(report) == ["route skipped", "link success", "tcp skipped"])
  }

  @Test("a probe's own timeout ends before the round's deadline, and never after it")
  func probeTimeout() async throws {
    try await withEventLoop { loop in
      let deadlines = LoopConfined<[Instant]>([], on: loop)
      let backend = ScriptedBackend { (_, context) throws(LocalFault) in
        deadlines.withState { $0.append(context.deadline) }
        return .tcp([TCPFinding(.open)])
      }
      let host = try testHost(on: loop)
      let start = loop.now()
      for timeout in [Duration.seconds(1), .seconds(60)] {
        let runner = RoundRunner(target: .web, probes: [.tcp(backend, timeout: timeout)], host: host)
        _ = await runner.runOnce(timeout: .seconds(30))
      }
      let waits = deadlines.withState { $0.map { $0.nanoseconds(since: start) } }
      #expect(waits.count == 2)
      #expect(waits[0] < 20_000_000_000)
      #expect(waits[1] >= 30_000_000_000 && waits[1] < 55_000_000_000)
    }
  }
}
