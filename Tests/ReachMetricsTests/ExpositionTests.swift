import ReachCore
import ReachIO
import ReachMetrics
import ReachTestSupport
import Testing

@Suite struct ExpositionTests {
  static let start = Instant(nanoseconds: 1_000_000_000)

  static let path = ReachabilityPath(
    interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: IPAddress(ipv4: 0xc000_0201),
    source: IPAddress(ipv4: 0xc633_6407), address: IPAddress(ipv4: 0xc633_6435))

  static let probes = [
    ProbeDescription(name: "link", layer: .link), ProbeDescription(name: "route", layer: .route),
    ProbeDescription(name: "dns", layer: .dns), ProbeDescription(name: "tcp", layer: .tcp),
  ]

  static let agent = AgentSeries(version: "0.1.0", revision: "abc", swiftVersion: "6.3")

  static func series(
    _ name: String = "db", labels: [Label] = [], probes: [ProbeDescription] = probes,
    detail: MetricsDetail = .standard
  ) -> TargetSeries {
    let target = Target(
      name: name, kind: .host(HostName(query: "db.internal", display: "db.internal")), port: 5432, labels: labels)
    return TargetSeries(target: target, probes: probes, detail: detail, at: start)
  }

  /// The whole text, and what is said about targets alone.
  static func text(
    _ targets: [TargetSeries], agent: AgentSeries = agent, links: [LinkSample] = [], process: ProcessSample? = nil,
    format: ExpositionFormat = .text, at now: Instant = start.advanced(by: .seconds(2))
  ) throws -> String {
    String(
      decoding: try bytes(targets, agent: agent, links: links, process: process, format: format, at: now),
      as: UTF8.self)
  }

  static func bytes(
    _ targets: [TargetSeries], agent: AgentSeries = agent, links: [LinkSample] = [], process: ProcessSample? = nil,
    format: ExpositionFormat, at now: Instant = start.advanced(by: .seconds(2))
  ) throws -> [UInt8] {
    let loop = try EventLoop()
    let cells = targets.map { LoopConfined($0, on: loop) }
    var exposition = Exposition(
      targets: cells, agent: agent, links: links, process: process, format: format, at: now)
    var bytes: [UInt8] = []
    while exposition.next(into: &bytes) {}
    return bytes
  }

  /// Everything that the code can show, of targets with a past, with hostile names and of every detail.
  static func everything(_ format: ExpositionFormat) throws -> [UInt8] {
    var agent = agent
    agent.plugins = [("tcp", "0.1.0")]
    agent.isLastReloadSuccessful = true
    agent.lastReloadSuccess = 1_700_000_000_500_000_000
    agent.stateLost = 0
    agent.scheduleLag.record(.milliseconds(3))
    agent.recordNetlinkMessage(type: "RTM_NEWLINK")
    agent.recordRequest(path: "/metrics", code: 200)
    let hostile = series("a\"b\\c\nd\u{1f600}\r\t\u{0}é", labels: [Label(name: "x", value: "}, \"")], detail: .full)
    var caused = series("caused")
    caused.setCause("link:eth0")
    caused.update(TargetState(verdict: Verdict(flags: [], rule: .apple, reason: .carrierLost)), at: start)
    var process = ProcessSample()
    process.cpu = 1_230_000_000
    process.residentBytes = 4096
    process.virtualBytes = 1 << 40
    process.startTime = 1_700_000_000_000_000_000
    return try bytes(
      [lived(), hostile, caused, series("compact", detail: .compact)], agent: agent,
      links: [
        LinkSample(interface: "eth0", medium: .wired, operState: .up, isUp: true, carrierChanges: 7),
        LinkSample(interface: "br0", medium: .other, operState: .down, isUp: false),
      ],
      process: process, format: format)
  }

  static func targetText(_ targets: [TargetSeries], at now: Instant = start.advanced(by: .seconds(2))) throws -> String
  {
    let text = try text(targets, at: now)
    let end = text.range(of: "# HELP reachd_build_info") ?? text.endIndex
    return String(text[..<end])
  }

  /// The lines of one family, comments left out.
  static func lines(_ family: String, _ targets: [TargetSeries]) throws -> [String] {
    try targetText(targets).split(separator: "\n").map(String.init).filter { $0.hasPrefix(family) }
  }

  @Test("a target that has not been probed: what exists from the start is 0, what does not exist is absent")
  func fresh() throws {
    let series = Self.series(probes: [Self.probes[3]])
    #expect(
      try Self.targetText([series]) == #"""
        # HELP reachability_status 1 for the target's current status, 0 for the others.
        # TYPE reachability_status gauge
        reachability_status{target="db",status="Unknown"} 1
        reachability_status{target="db",status="NotReachable"} 0
        reachability_status{target="db",status="ReachableViaWWAN"} 0
        reachability_status{target="db",status="ReachableViaWiFi"} 0
        # HELP reachability_reason_info Why the status is what it is, and the layer that decided; always 1.
        # TYPE reachability_reason_info gauge
        reachability_reason_info{target="db",layer="local",reason="not_probed"} 1
        # HELP reachability_transitions_total Changes of status into this one; the first status after start is none.
        # TYPE reachability_transitions_total counter
        reachability_transitions_total{target="db",to="Unknown"} 0
        reachability_transitions_total{target="db",to="NotReachable"} 0
        reachability_transitions_total{target="db",to="ReachableViaWWAN"} 0
        reachability_transitions_total{target="db",to="ReachableViaWiFi"} 0
        # HELP reachability_status_seconds_total Time spent in each status.
        # TYPE reachability_status_seconds_total counter
        reachability_status_seconds_total{target="db",status="Unknown"} 2
        reachability_status_seconds_total{target="db",status="NotReachable"} 0
        reachability_status_seconds_total{target="db",status="ReachableViaWWAN"} 0
        reachability_status_seconds_total{target="db",status="ReachableViaWiFi"} 0
        # HELP reachability_stale 1 while the status is held without fresh evidence.
        # TYPE reachability_stale gauge
        reachability_stale{target="db"} 0
        # HELP reachability_probe_runs_total Runs by outcome: success, failure, error (a fault of this host), skipped.
        # TYPE reachability_probe_runs_total counter
        reachability_probe_runs_total{target="db",probe="tcp",outcome="success"} 0
        reachability_probe_runs_total{target="db",probe="tcp",outcome="failure"} 0
        reachability_probe_runs_total{target="db",probe="tcp",outcome="error"} 0
        reachability_probe_runs_total{target="db",probe="tcp",outcome="skipped"} 0
        # HELP reachability_probe_duration_seconds How long finished runs took.
        # TYPE reachability_probe_duration_seconds histogram
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.0005"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.001"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.0025"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.005"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.01"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.025"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.05"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.1"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.25"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.5"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="1"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="3"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="10"} 0
        reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="+Inf"} 0
        reachability_probe_duration_seconds_sum{target="db",probe="tcp"} 0
        reachability_probe_duration_seconds_count{target="db",probe="tcp"} 0
        # HELP reachability_address_changes_total Times the set of resolved addresses changed.
        # TYPE reachability_address_changes_total counter
        reachability_address_changes_total{target="db"} 0
        # HELP reachability_path_changes_total Times the egress interface changed.
        # TYPE reachability_path_changes_total counter
        reachability_path_changes_total{target="db"} 0
        # HELP reachability_raw_changes_total Times fresh evidence told of another status than the evidence before, before any damping.
        # TYPE reachability_raw_changes_total counter
        reachability_raw_changes_total{target="db"} 0
        # HELP reachability_flapping 1 while damping (fall, rise, hold) holds a status that the newest evidence contradicts.
        # TYPE reachability_flapping gauge
        reachability_flapping{target="db"} 0

        """#)
  }

  @Test("a target with a past: everything that is known of it, in the order of the reference")
  func full() throws {
    let text = try Self.targetText([Self.lived()], at: Self.start.advanced(by: .seconds(40)))
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.joined(separator: "\n") == Self.livedText)
  }

  /// A round in which tcp was refused, one in which it was open, a local fault, a skipped run; three statuses.
  static func lived(wall: Int64? = nil) -> TargetSeries {
    var series = series(labels: [Label(name: "team", value: "storage"), Label(name: "site", value: "fra1")])
    let address = IPAddress(ipv4: 0xc633_6435)
    let other = IPAddress(ipv6High: 0x2001_0db8_0000_0000, low: 1)
    var findings = RoundFindings(
      probes: [.link, .route, .dns, .tcp],
      dns: DNSFinding(.resolved, addresses: [address, other], ttl: .milliseconds(59_500)),
      candidates: [Candidate(address, tcp: TCPFinding(.failed(.tcpRefused)))])
    func report(_ outcome: ProbeOutcome, _ milliseconds: Int?) -> RoundReport {
      RoundReport(
        startedAt: start, finishedAt: start, findings: findings,
        runs: [
          ProbeRun(probe: "link", outcome: .success, duration: .microseconds(3)),
          ProbeRun(probe: "route", outcome: .success, duration: .microseconds(5)),
          ProbeRun(probe: "dns", outcome: .success, duration: .milliseconds(2)),
          ProbeRun(probe: "tcp", outcome: outcome, duration: milliseconds.map { .milliseconds($0) }),
        ])
    }
    func state(_ flags: ReachabilityFlags, _ reason: Reason, stale: Bool = false) -> TargetState {
      let verdict = Verdict(
        flags: flags, rule: .afnetworking, reason: reason, path: path,
        addresses: [
          AddressVerdict(address: address, state: .reachable, reason: .tcpOpen),
          AddressVerdict(address: other, state: .untested, reason: .tcpOpen),
        ])
      return TargetState(verdict: verdict, isStale: stale, since: 1_700_000_000_250_000_000, sequence: 2)
    }
    func change(_ from: Status?, _ state: TargetState) -> StatusChange {
      StatusChange(sequence: state.sequence, at: 0, from: from, to: state.verdict, inPrevious: nil)
    }
    let down = state([], .tcpRefused)
    series.record(report(.failure(.tcpRefused), 1), wall: wall)
    series.update(down, at: start.advanced(by: .milliseconds(1500)))
    series.record(.initial(change(nil, down)))
    findings.candidates = [Candidate(address, tcp: TCPFinding(.open, rtt: .microseconds(7)))]
    findings.dns?.addresses = [other]
    let up = state([.reachable, .isDirect], .tcpOpen, stale: true)
    series.record(report(.success, 4), wall: wall)
    series.update(up, at: start.advanced(by: .seconds(30)))
    series.record(.changed(change(.notReachable, up)))
    series.record(.pathChanged(from: ReachabilityPath(interface: "wlan0"), to: path))
    series.record(report(.error(LocalFault(errno: 24)), nil), wall: wall)
    series.record(report(.skipped, nil), wall: wall)
    return series
  }

  @Test("several targets stand together in each family, in the order in which they are given")
  func grouped() throws {
    let lines = try Self.lines("reachability_stale", [Self.series("b"), Self.series("a")])
    #expect(lines == [#"reachability_stale{target="b"} 0"#, #"reachability_stale{target="a"} 0"#])
  }

  @Test("a label value is escaped, and cut at 2048 bytes on a character's boundary")
  func hostile() throws {
    let name = "a\"b\\c\nd" + String(decoding: [0xff] as [UInt8], as: UTF8.self)
    #expect(
      try Self.lines("reachability_stale", [Self.series(name, labels: [Label(name: "x", value: "\"")])])
        == [#"reachability_stale{target="a\"b\\c\nd"# + "\u{fffd}" + #"",x="\""} 0"#])
    let long = String(repeating: "x", count: 2046) + "\u{1f600}" + "y"
    #expect(
      try Self.lines("reachability_stale", [Self.series(long)])
        == [#"reachability_stale{target=""# + String(repeating: "x", count: 2046) + #""} 0"#])
    let exact = String(repeating: "é", count: 1024)
    #expect(
      try Self.lines("reachability_stale", [Self.series(exact + "é")]) == [#"reachability_stale{target="\#(exact)"} 0"#]
    )
    #expect(LabelText.cut(exact + "é") == exact)
  }

  @Test("compact shows at most twelve series a target")
  func compact() throws {
    // One more that uses the network than there is room for.
    let probes = Self.probes + [ProbeDescription(name: "tcp2", layer: .tcp)]
    var series = Self.series(probes: probes, detail: .compact)
    let verdict = Verdict(flags: .reachable, rule: .afnetworking, reason: .tcpOpen, path: Self.path)
    series.record(ProbeRun(probe: "link", outcome: .success))
    series.record(ProbeRun(probe: "dns", outcome: .success))
    series.record(ProbeRun(probe: "tcp", outcome: .failure(.tcpRefused)))
    series.record(ProbeRun(probe: "tcp2", outcome: .success))
    series.update(TargetState(verdict: verdict), at: Self.start)
    let lines = try Self.targetText([series]).split(separator: "\n").filter { !$0.hasPrefix("#") }
    #expect(lines.count == 12)
    #expect(
      lines.suffix(2) == [
        #"reachability_probe_success{target="db",probe="dns"} 1"#,
        #"reachability_probe_success{target="db",probe="tcp"} 0"#,
      ])
  }

  @Test("full has a histogram for every probe, in 22 buckets from 50 µs to 26 s")
  func fine() throws {
    let series = Self.series(detail: .full)
    let buckets = try Self.lines("reachability_probe_duration_seconds_bucket", [series])
    #expect(buckets.count == 4 * 23)
    #expect(buckets[0] == #"reachability_probe_duration_seconds_bucket{target="db",probe="link",le="0.00005"} 0"#)
    #expect(buckets[21].contains(#"le="26.2144""#))
  }

  @Test("a local fault takes the last success away, a skipped run leaves it")
  func lastSuccess() throws {
    var series = Self.series()
    series.record(ProbeRun(probe: "tcp", outcome: .success))
    series.record(ProbeRun(probe: "tcp", outcome: .skipped))
    #expect(try Self.lines("reachability_probe_success", [series]).count == 1)
    series.record(ProbeRun(probe: "tcp", outcome: .error(LocalFault(errno: 24))))
    #expect(try Self.lines("reachability_probe_success", [series]) == [])
    #expect(
      try Self.lines("reachability_probe_failures_total", [series])
        == [#"reachability_probe_failures_total{target="db",probe="tcp",reason="probe_error:EMFILE"} 1"#])
  }

  @Test("a cause is shown while the target is NotReachable, damping while it is known")
  func cause() throws {
    var series = Self.series()
    series.setCause("link:eth0")
    series.setDamping(rawChanges: 3, isFlapping: true)
    #expect(try Self.lines("reachability_cause_info", [series]) == [])
    #expect(try Self.lines("reachability_flapping", [series]) == [#"reachability_flapping{target="db"} 1"#])
    series.update(TargetState(verdict: Verdict(flags: [], rule: .apple, reason: .carrierLost)), at: Self.start)
    #expect(
      try Self.lines("reachability_cause_info", [series])
        == [#"reachability_cause_info{target="db",cause="link:eth0"} 1"#])
  }

  @Test("pieces are of bounded size, and together the same text whatever their boundaries")
  func pieces() throws {
    let loop = try EventLoop()
    let cells = (0..<300).map { LoopConfined(Self.series("target-\($0)"), on: loop) }
    var exposition = Exposition(targets: cells, agent: Self.agent, at: Self.start)
    var all: [UInt8] = []
    var piece: [UInt8] = []
    while exposition.next(into: &piece) {
      #expect(!piece.isEmpty && piece.count < 2 * Exposition.pieceSize)
      all += piece
      piece.removeAll(keepingCapacity: true)
    }
    #expect(piece.isEmpty)
    #expect(all.count > 20 * Exposition.pieceSize)
    let headers = String(decoding: all, as: UTF8.self).split(separator: "\n").filter { $0.hasPrefix("# HELP") }
    #expect(headers.count == Set(headers).count)
    let expected = try Self.text((0..<300).map { Self.series("target-\($0)") }, at: Self.start)
    #expect(String(decoding: all, as: UTF8.self) == expected)
  }
}

extension String {
  /// Where the text begins, or nil.
  func range(of text: String) -> String.Index? {
    indices.first { self[$0...].hasPrefix(text) }
  }
}
