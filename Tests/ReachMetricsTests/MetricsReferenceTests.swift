import ReachCore
import ReachMetrics
import ReachTestSupport
import Testing

/// What `docs/metrics.md` says of each family, and the exposition beside it.
@Suite struct MetricsReferenceTests {
  /// A family as the reference or an exposition has it.
  struct Entry: Hashable {
    let type: String
    let labels: Set<String>
  }

  private static let prefixes = ["reachability_", "reachd_", "process_"]

  @Test("the reference names every family of the code, with its type and labels, and no other")
  func families() throws {
    let documented = try Self.documented()
    let shown = try Self.shown(at: .full)
    #expect(documented == shown)
    // What is compared above is everything only if the exposition has all that the code could show.
    let names = try Repository.sources(in: "Sources/ReachMetrics").matches(
      of: /"((?:reachability|reachd|process)_[a-z_]+)"/
    ).map { String($0.output.1) }
    #expect(Set(shown.keys) == Set(names))
  }

  @Test("the reference says at which detail each family about targets appears")
  func details() throws {
    let rows = try Self.rows().filter { $0.count == 5 }
    let compact = try Self.shown(at: .compact)
    let standard = try Self.shown(at: .standard)
    #expect(!rows.isEmpty)
    for row in rows {
      #expect(row[3] == (compact[row[0]] == nil ? "standard" : "compact"), "\(row[0])")
      #expect(standard[row[0]] != nil, "\(row[0])")
    }
  }

  @Test("no page and no rule names a metric that does not exist")
  func mentions() throws {
    let known = try Self.shown(at: .full)
    let pages = try (Repository.files(in: "docs") + Repository.files(in: "Plugins")).filter { $0.hasSuffix(".md") }
    let dashboards = try Repository.files(in: "deploy/grafana").filter { $0.hasSuffix(".json") }
    for file in pages + dashboards + ["README.md", "CHANGELOG.md", "deploy/prometheus/reachd.rules.yml"] {
      for match in try Repository.text(file).matches(of: /\b(?:reachability|reachd|process)_[a-z_]+/) {
        var name = String(match.output)
        // What a plugin's entry point is called.
        if name.hasPrefix("reachd_plugin_"), name != "reachd_plugin_info" { continue }
        for suffix in ["_bucket", "_sum", "_count"] where known[name] == nil && name.hasSuffix(suffix) {
          name.removeLast(suffix.count)
        }
        #expect(known[name] != nil, "\(file): \(match.output)")
      }
    }
  }

  // MARK: Reading

  /// The rows of the reference about families: name, type, labels and the rest, without the name's backticks.
  private static func rows() throws -> [[String]] {
    try Repository.text("docs/metrics.md").split(separator: "\n").compactMap { line in
      guard prefixes.contains(where: { line.hasPrefix("| `\($0)") }) else { return nil }
      let cells = line.split(separator: "|").map { cell in
        String(cell.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
      }
      return [cells[0].filter { $0 != "`" }] + cells.dropFirst()
    }
  }

  private static func documented() throws -> [String: Entry] {
    var entries: [String: Entry] = [:]
    for row in try rows() {
      let labels = row[2] == "–" ? [] : Set(row[2].split(separator: ", ").map(String.init))
      #expect(entries.updateValue(Entry(type: row[1], labels: labels), forKey: row[0]) == nil, "\(row[0]) stands twice")
    }
    return entries
  }

  /// Every family of an exposition in which each has a value.
  private static func shown(at detail: MetricsDetail) throws -> [String: Entry] {
    var agent = ExpositionTests.agent
    agent.plugins = [("tcp", "0.1.0")]
    agent.isLastReloadSuccessful = true
    agent.lastReloadSuccess = 1
    agent.stateLost = 0
    agent.moduleUnknown = 0
    agent.sources = [SourceSeries(source: "s", targets: 1, failures: 0, lastSuccess: 1)]
    agent.recordNetlinkMessage(type: "RTM_NEWLINK")
    agent.recordRequest(path: "/metrics", code: 200)
    let text = try ExpositionTests.text(
      [reachable(detail), failing(detail)], agent: agent,
      links: [LinkSample(interface: "eth0", medium: .wired, operState: .up, isUp: true, carrierChanges: 7)],
      process: .current())
    var entries: [String: Entry] = [:]
    var family = (name: "", type: "")
    for line in text.split(separator: "\n") {
      if let header = line.wholeMatch(of: /# TYPE (\S+) (\S+)/)?.output {
        family = (String(header.1), String(header.2))
      } else if !line.hasPrefix("#") {
        var labels = entries[family.name]?.labels ?? []
        labels.formUnion(line.matches(of: /([a-z_]+)="/).map { String($0.output.1) })
        labels.remove("le")
        entries[family.name] = Entry(type: family.type, labels: labels)
      }
    }
    return entries
  }

  private static func reachable(_ detail: MetricsDetail) -> TargetSeries {
    var series = ExpositionTests.series(detail: detail)
    let address = IPAddress(ipv4: 0xc633_6435)
    let findings = RoundFindings(
      probes: [.link, .route, .dns, .tcp],
      dns: DNSFinding(.resolved, addresses: [address], ttl: .seconds(60)),
      candidates: [Candidate(address, tcp: TCPFinding(.open, rtt: .microseconds(7)))])
    series.record(
      RoundReport(
        startedAt: ExpositionTests.start, finishedAt: ExpositionTests.start, findings: findings,
        runs: [ProbeRun(probe: "tcp", outcome: .success, duration: .milliseconds(1))]))
    let verdict = Verdict(
      flags: [.reachable], rule: .afnetworking, reason: .tcpOpen, path: ExpositionTests.path,
      addresses: [AddressVerdict(address: address, state: .reachable, reason: .tcpOpen)])
    series.update(TargetState(verdict: verdict, since: 1), at: ExpositionTests.start)
    return series
  }

  private static func failing(_ detail: MetricsDetail) -> TargetSeries {
    var series = ExpositionTests.series("failing", detail: detail)
    series.record(ProbeRun(probe: "tcp", outcome: .failure(.tcpRefused), duration: .milliseconds(1)))
    series.setCause("link:eth0")
    series.update(
      TargetState(verdict: Verdict(flags: [], rule: .apple, reason: .carrierLost)), at: ExpositionTests.start)
    return series
  }
}
