import ReachCore
import ReachTestSupport
import Testing

@testable import ReachMetrics

@Suite struct ExemplarTests {
  private static let wall: Int64 = 1_700_000_000_123_456_789

  /// The lines of OpenMetrics that carry an exemplar.
  private static func lines(_ series: [TargetSeries]) throws -> [String] {
    try ExpositionTests.text(series, format: .openMetrics).split(separator: "\n").map(String.init)
      .filter { $0.contains(" # {") }
  }

  private static func record(
    _ outcome: ProbeOutcome, _ milliseconds: Int, at wall: Int64? = wall, address: IPAddress,
    to series: inout TargetSeries
  ) {
    let tcp: TCPFinding.Result = outcome == .success ? .open : .failed(.tcpRefused)
    let findings = RoundFindings(
      probes: [.dns, .tcp],
      dns: DNSFinding(.resolved, addresses: [address], servers: [IPAddress(ipv4: 0xc633_6401)]),
      candidates: [
        Candidate(IPAddress(ipv4: 1), tcp: TCPFinding(.notRun)), Candidate(address, tcp: TCPFinding(tcp)),
      ])
    let runs = [
      ProbeRun(probe: "link", outcome: .success, duration: .microseconds(1)),
      ProbeRun(probe: "dns", outcome: .success, duration: .milliseconds(2)),
      ProbeRun(probe: "tcp", outcome: outcome, duration: .milliseconds(milliseconds)),
    ]
    series.record(
      RoundReport(startedAt: ExpositionTests.start, finishedAt: ExpositionTests.start, findings: findings, runs: runs),
      wall: wall)
  }

  @Test("the newest run of dns and tcp is shown beside its bucket: its address, how long, when, and why it failed")
  func newest() throws {
    var series = ExpositionTests.series()
    let address = IPAddress(ipv4: 0xc633_6435)
    Self.record(.success, 4, address: address, to: &series)
    Self.record(.failure(.tcpRefused), 40, address: address, to: &series)
    #expect(
      try Self.lines([series]) == [
        #"reachability_probe_duration_seconds_bucket{target="db",probe="dns",le="0.0025"} 2"#
          + ##" # {server="198.51.100.1"} 0.002 1700000000.123"##,
        #"reachability_probe_duration_seconds_bucket{target="db",probe="tcp",le="0.05"} 2"#
          + ##" # {reason="tcp_refused",address="198.51.100.53"} 0.04 1700000000.123"##,
      ])
    #expect(!(try ExpositionTests.text([series])).contains("# {"))
  }

  @Test("at full each bucket keeps its own, and link and route have none")
  func each() throws {
    var series = ExpositionTests.series(detail: .full)
    for milliseconds in [1, 3, 30, 3, 20_000, 300_000] {
      Self.record(.success, milliseconds, address: IPAddress(ipv4: 7), to: &series)
    }
    let lines = try Self.lines([series]).filter { $0.contains("probe=\"tcp\"") }
    #expect(lines.count == 5)
    #expect(lines.last?.contains(#"le="+Inf"} 6 # {address="0.0.0.7"} 300 "#) == true)
    #expect(try Self.lines([series]).count == 6)
  }

  @Test("protocol buffers have the newest of all buckets, since a native histogram takes none that is older")
  func newestOfAll() throws {
    var series = ExpositionTests.series(detail: .full)
    for (second, milliseconds) in [(1, 3), (3, 30), (2, 300)] {
      let wall = Self.wall + Int64(second) * 1_000_000_000
      Self.record(.success, milliseconds, at: wall, address: IPAddress(ipv4: 7), to: &series)
    }
    let histograms = try ProtobufExposition(try ExpositionTests.bytes([series], format: .protobuf)).families
      .flatMap(\.metrics).filter { try ProtobufExposition.labels(of: $0)["probe"] == "tcp" }
      .flatMap { try $0.messages(7) }
    #expect(histograms.count == 1)
    let exemplars = try histograms.flatMap { try $0.messages(3) }.flatMap { try $0.messages(3) }
    #expect(exemplars.map { $0.double(2) } == [0.03])
  }

  @Test("a round without a time of day is counted and leaves no exemplar")
  func timeless() throws {
    var series = ExpositionTests.series()
    Self.record(.success, 4, at: nil, address: IPAddress(ipv4: 7), to: &series)
    #expect(try Self.lines([series]) == [])
  }

  @Test("labels have at most 128 characters together; an address that is longer is left out")
  func bounded() throws {
    var series = ExpositionTests.series()
    let zone = String(repeating: "z", count: 130)
    let address = IPAddress(ipv6High: 0xfe80_0000_0000_0000, low: 1, zone: zone)
    Self.record(.failure(.tcpRefused), 4, address: address, to: &series)
    #expect(try Self.lines([series]).last?.contains(##"# {reason="tcp_refused"} 0.004"##) == true)
  }

  @Test(
    "prometheus_client reads the exemplars, and protocol buffers have the same",
    .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"))
  func parsed() throws {
    var series = ExpositionTests.series()
    Self.record(.failure(.tcpTimeout), 999, address: IPAddress(ipv6High: 1 << 61, low: 9), to: &series)
    let parsed = try PythonParsers.parse(
      try ExpositionTests.text([series], format: .openMetrics), openMetrics: true)
    #expect(
      Set(parsed.exemplars) == [
        ExpositionSample(name: "1700000000.123", labels: ["server": "198.51.100.1"], value: 0.002),
        ExpositionSample(
          name: "1700000000.123", labels: ["reason": "tcp_timeout", "address": "2000::9"], value: 0.999),
      ])
    let decoded = try ProtobufExposition(try ExpositionTests.bytes([series], format: .protobuf)).families
      .flatMap(\.metrics).flatMap { try $0.messages(7) }.flatMap { try $0.messages(3) }
      .flatMap { try $0.messages(3) }.map { exemplar in
        let time = try #require(try exemplar.messages(3).first)
        #expect(time.integer(1) == 1_700_000_000)
        return ExpositionSample(
          name: "1700000000.\(time.integer(2) / 1_000_000)", labels: try ProtobufExposition.labels(of: exemplar),
          value: exemplar.double(2) ?? .nan)
      }
    #expect(Set(decoded) == Set(parsed.exemplars))
  }
}
