/// Which probes a target runs.
public struct ProbeSet: OptionSet, Hashable, Sendable {
  /// One bit a layer.
  public let rawValue: UInt8
  /// A set of those bits.
  public init(rawValue: UInt8) { self.rawValue = rawValue }
  /// The link probe.
  public static let link = ProbeSet(rawValue: 1)
  /// The route probe.
  public static let route = ProbeSet(rawValue: 2)
  /// The dns probe.
  public static let dns = ProbeSet(rawValue: 4)
  /// The tcp probe.
  public static let tcp = ProbeSet(rawValue: 8)

  /// The set of the one probe that looks at this layer; empty for a layer no probe looks at.
  public init(layer: Layer) {
    switch layer {
    case .link: self = .link
    case .route: self = .route
    case .dns: self = .dns
    case .tcp: self = .tcp
    case .config, .local: self = []
    }
  }
}

/// What is known of the path beside what probes see: services that could bring one up, and what stands in the way.
public struct Circumstances: Hashable, Sendable {
  /// A configured service without a connection.
  public struct Standby: Hashable, Sendable {
    /// The kind of network it would bring.
    public var medium: Medium
    /// Whether any packet brings it up.
    public var isOnTraffic: Bool
    /// Whether its last attempt failed, so that a person must act.
    public var needsIntervention: Bool
    /// A service.
    public init(medium: Medium, isOnTraffic: Bool = false, needsIntervention: Bool = false) {
      self.medium = medium
      self.isOnTraffic = isOnTraffic
      self.needsIntervention = needsIntervention
    }
  }

  /// A captive portal was found on the path.
  public var isCaptivePortal: Bool
  /// A service that stands by.
  public var standby: Standby?
  /// Whether a VPN on demand is configured for the target's name.
  public var isOnDemandName: Bool

  /// Circumstances; none by default.
  public init(isCaptivePortal: Bool = false, standby: Standby? = nil, isOnDemandName: Bool = false) {
    self.isCaptivePortal = isCaptivePortal
    self.standby = standby
    self.isOnDemandName = isOnDemandName
  }
}

/// All that one round saw of a target: what the aggregator judges.
public struct RoundFindings: Hashable, Sendable {
  /// The probes that the target runs. One that is in here without having left anything behind has not run yet.
  public var probes: ProbeSet
  /// What resolution said; nil when the target needs none or it has not ended.
  public var dns: DNSFinding?
  /// The ways to the target, in order, with what each layer saw.
  public var candidates: [Candidate]
  /// What kept a probe from observing anything at all.
  public var fault: LocalFault?
  /// What is known beside.
  public var circumstances: Circumstances

  /// Findings.
  public init(
    probes: ProbeSet, dns: DNSFinding? = nil, candidates: [Candidate] = [], fault: LocalFault? = nil,
    circumstances: Circumstances = Circumstances()
  ) {
    self.probes = probes
    self.dns = dns
    self.candidates = candidates
    self.fault = fault
    self.circumstances = circumstances
  }
}

/// One probe's part in a round.
public struct ProbeRun: Hashable, Sendable {
  /// The backend's name, such as `tcp`.
  public var probe: String
  /// How it counts.
  public var outcome: ProbeOutcome
  /// How long it took; nil when it did not run. By the kernel's measure where the evidence carries one.
  public var duration: Duration?
  /// What else there is to know of it, such as `dns_stale` where the resolver failed and an older answer stands in.
  public var detail: Reason?

  /// A run.
  public init(probe: String, outcome: ProbeOutcome, duration: Duration? = nil, detail: Reason? = nil) {
    self.probe = probe
    self.outcome = outcome
    self.duration = duration
    self.detail = detail
  }
}

/// A finished round of one target.
public struct RoundReport: Hashable, Sendable {
  /// When it began.
  public var startedAt: Instant
  /// When it ended.
  public var finishedAt: Instant
  /// What was seen.
  public var findings: RoundFindings
  /// Every probe's part, in the order they ran.
  public var runs: [ProbeRun]

  /// A report.
  public init(startedAt: Instant, finishedAt: Instant, findings: RoundFindings, runs: [ProbeRun]) {
    self.startedAt = startedAt
    self.finishedAt = finishedAt
    self.findings = findings
    self.runs = runs
  }
}
