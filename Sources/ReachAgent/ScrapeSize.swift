internal import Glibc
public import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachMetrics
internal import ReachPluginHost
internal import ReachProbe

/// How large a scrape of a configuration is: counted in one that is rendered as the agent renders it, of the configured
/// targets after a round in which each was reachable, and of the interfaces that this host has now.
///
/// What has yet to happen is not in it: a series for each reason for which a probe fails, more digits in each counter.
public struct ScrapeSize: Hashable, Sendable {
  /// Lines that are no comment.
  public private(set) var series = 0
  /// In the text format, not compressed.
  public private(set) var bytes = 0

  /// Renders the scrape of the configured targets and of these beside them. nil when the configuration has errors, or this host cannot have an event loop.
  public init?(_ preparation: Preparation, with others: [ConfiguredTarget] = []) {
    guard let configuration = preparation.configuration, let loop = try? EventLoop() else { return nil }
    let layers = preparation.plugins.reduce(into: [String: Layer]()) { $0[$1.name] = $1.plugin?.layer }
    let detail = MetricsDetail(configuration.metrics.detail)
    let targets = (configuration.targets + others).map { target in
      LoopConfined(Self.probed(target, layers, detail, at: loop.now()), on: loop)
    }
    var agent = AgentSeries(of: preparation)
    agent.stateLost = configuration.stateDirectory == nil ? nil : 0
    agent.moduleUnknown = configuration.probing.modules.isEmpty ? nil : 0
    agent.recordRequest(path: "/metrics", code: 200)
    var exposition = Exposition(
      targets: targets, agent: agent, links: Self.links(), process: .current(), at: loop.now())
    var piece: [UInt8] = []
    var isComment = false
    var isLineStart = true
    while exposition.next(into: &piece) {
      bytes += piece.count
      for byte in piece {
        if isLineStart { isComment = byte == UInt8(ascii: "#") }
        isLineStart = byte == UInt8(ascii: "\n")
        if isLineStart, !isComment { series += 1 }
      }
      piece.removeAll(keepingCapacity: true)
    }
  }

  /// A target's series after a round in which everything went well.
  private static func probed(
    _ configured: ConfiguredTarget, _ layers: [String: Layer], _ detail: MetricsDetail, at now: Instant
  ) -> TargetSeries {
    let target = configured.target
    let (address, isName) = Self.address(of: target)
    let probes = configured.probes.map { probe in
      ProbeDescription(name: probe.backend, layer: layers[probe.backend] ?? Layer(rawValue: probe.backend) ?? .local)
    }.filter { $0.layer != .dns || isName }
    var series = TargetSeries(target: target, probes: probes, detail: detail, at: now)
    let hasTCP = probes.contains { $0.layer == .tcp }
    var findings = RoundFindings(probes: probes.reduce(into: []) { $0.insert(ProbeSet(layer: $1.layer)) })
    if isName { findings.dns = DNSFinding(.resolved, addresses: address.map { [$0] } ?? [], ttl: .seconds(300)) }
    findings.candidates = [
      Candidate(address, tcp: hasTCP ? TCPFinding(.open, rtt: .microseconds(12_345)) : nil)
    ]
    let runs = probes.map { ProbeRun(probe: $0.name, outcome: .success, duration: .microseconds(12_345)) }
    series.record(RoundReport(startedAt: now, finishedAt: now, findings: findings, runs: runs))
    let path = ReachabilityPath(
      interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: address, source: address, address: address)
    let verdict = Verdict(
      flags: [.reachable], rule: target.policy.statusRule, reason: hasTCP ? .tcpOpen : .routeOK, path: path)
    series.update(
      TargetState(verdict: verdict, since: WallClock.nanosecondsSinceEpoch(), sequence: 1), at: now)
    return series
  }

  /// An address such as the target's, and whether it has to be asked for.
  private static func address(of target: Target) -> (IPAddress?, isName: Bool) {
    switch target.kind {
    case .host: (IPAddress(ipv4: 0xc000_0201), true)
    case .address(let address): (address, false)
    case .pair(_, let remote): (remote, false)
    case .defaultPath: (IPAddress(ipv4: 0xc000_0201), false)
    case .linkLocal, .interface: (nil, false)
    }
  }

  /// The interfaces of this host (if_nameindex(3)).
  private static func links() -> [LinkSample] {
    guard let list = unsafe if_nameindex() else { return [] }
    defer { unsafe if_freenameindex(list) }
    var links: [LinkSample] = []
    var entry = unsafe list
    while let name = unsafe entry.pointee.if_name {
      let interface = unsafe String(cString: name)
      links.append(
        LinkSample(interface: interface, medium: .wired, operState: .up, isUp: true, carrierChanges: 1))
      unsafe entry += 1
    }
    return links
  }
}
