internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachMetrics

extension Benchmark {
  static let scrape = Benchmark(
    name: "scrape", summary: "one target's part in a scrape of ten thousand, at the standard detail"
  ) {
    let before = residentBytes()
    let (targets, loop) = try watchedTargets()
    let kept = (residentBytes() - before) / targets.count
    var size = 0
    try compare(
      ExpositionFormat.allCases.map { format in
        Contender(name: "\(format)") { _ in size = render(targets, format, at: loop.now()) }
      }, count: targets.count)
    print(
      "  kept in memory: \(kept) bytes a target, \(residentBytes() / targets.count - before / targets.count) after "
        + "native histograms were asked for; the last scrape had \(size / targets.count) bytes a target")
  }
}

/// Addresses with a port, each after a few rounds that connected.
private func watchedTargets() throws -> ([LoopConfined<TargetSeries>], EventLoop) {
  let loop = try EventLoop()
  let now = loop.now()
  let probes = [
    ProbeDescription(name: "route", layer: .route), ProbeDescription(name: "link", layer: .link),
    ProbeDescription(name: "tcp", layer: .tcp),
  ]
  let targets = (0..<10_000).map { number in
    let address = IPAddress(ipv4: 0x0a00_0000 + UInt32(number))
    let target = Target(name: "\(address):443", kind: .address(address), port: 443)
    var series = TargetSeries(target: target, probes: probes, at: now)
    for round in 1...5 {
      let runs = probes.map { probe in
        ProbeRun(
          probe: probe.name, outcome: .success,
          duration: .microseconds(probe.layer == .tcp ? number * round % 50_000 : 5))
      }
      let findings = RoundFindings(
        probes: [.route, .link, .tcp],
        candidates: [Candidate(address, tcp: TCPFinding(.open, rtt: .microseconds(100 + number % 1000)))])
      series.record(
        RoundReport(startedAt: now, finishedAt: now, findings: findings, runs: runs),
        wall: 1_700_000_000_000_000_000)
    }
    let path = ReachabilityPath(
      interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: IPAddress(ipv4: 0xc000_0201),
      source: IPAddress(ipv4: 0xc633_6407), address: address)
    let verdict = Verdict(flags: [.reachable], rule: .afnetworking, reason: .tcpOpen, path: path)
    series.update(TargetState(verdict: verdict, since: 1_700_000_000_000_000_000, sequence: 1), at: now)
    return LoopConfined(series, on: loop)
  }
  return (targets, loop)
}

/// Renders a whole scrape and returns its size.
private func render(_ targets: [LoopConfined<TargetSeries>], _ format: ExpositionFormat, at now: Instant) -> Int {
  let agent = AgentSeries(version: "0", revision: "0", swiftVersion: "0")
  var exposition = Exposition(targets: targets, agent: agent, format: format, at: now)
  var piece: [UInt8] = []
  var size = 0
  while exposition.next(into: &piece) {
    size += piece.count
    piece.removeAll(keepingCapacity: true)
  }
  return size
}

/// The resident memory of this process (proc_pid_statm(5)).
private func residentBytes() -> Int {
  guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
  defer { unsafe fclose(file) }
  var line = [CChar](repeating: 0, count: 256)
  guard unsafe fgets(&line, 256, file) != nil else { return 0 }
  let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
  let fields = text.split(separator: " ")
  return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) : 0
}
