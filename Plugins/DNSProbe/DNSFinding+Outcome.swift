internal import ReachCore

extension DNSFinding {
  /// More addresses than this are not probed.
  static let mostAddresses = 64

  /// The finding that an outcome comes to; without servers and attempts, which the caller knows.
  init(_ outcome: Resolution.Outcome, families: [IPAddress.Family]) {
    let combined = Resolution.combined(outcome)
    self.init(Self.result(combined))
    if case .addresses(let found, let least) = combined {
      addresses = Self.ordered(found)
      ttl = .seconds(Int64(least))
    }
    for (family, verdict) in zip(families, outcome) {
      switch family {
      case .ipv4: ipv4 = Self.result(verdict)
      case .ipv6: ipv6 = Self.result(verdict)
      }
    }
  }

  /// Whether the resolver has failed, for now, rather than said that there is nothing.
  var isTransientFailure: Bool { Self.isTransient(result) }

  /// Whether this host could not ask.
  var isFault: Bool { if case .fault = result { true } else { false } }

  /// Whether there are addresses, but one family's could not be had.
  var isPartial: Bool { result == .resolved && [ipv4, ipv6].contains { $0.map(Self.isTransientOrFault) ?? false } }

  /// Whether the family was asked for and could not be had.
  func isMissing(_ family: IPAddress.Family) -> Bool {
    (family == .ipv4 ? ipv4 : ipv6).map(Self.isTransientOrFault) ?? false
  }

  /// The addresses in the order to be tried: IPv6 before IPv4, each by value, none twice, and at most 64, of which the
  /// smaller family keeps up to half.
  ///
  /// Servers turn the order of their answers from one to the next. Here it is the same whatever they do, so that the
  /// address that decides, and which are left out of too many, change only when the set of addresses does.
  static func ordered(_ addresses: [IPAddress]) -> [IPAddress] {
    let unique = Set(addresses).sorted { ($0.high, $0.low, $0.zone ?? "") < ($1.high, $1.low, $1.zone ?? "") }
    let ipv6 = unique.filter { $0.family == .ipv6 }
    let ipv4 = unique.filter { $0.family == .ipv4 }
    let keptIPv6 = max(mostAddresses / 2, mostAddresses - ipv4.count)
    let first = ipv6.prefix(keptIPv6)
    return Array(first) + ipv4.prefix(mostAddresses - first.count)
  }

  private static func result(_ verdict: QueryPlan.Verdict) -> Result {
    switch verdict {
    case .addresses: .resolved
    case .noData: .failed(.dnsNoData)
    case .nxDomain: .failed(.dnsNXDomain)
    case .failed(let reason): .failed(reason)
    case .fault(let fault): .fault(fault)
    }
  }

  private static func isTransient(_ result: Result) -> Bool {
    if case .failed(let reason) = result { reason != .dnsNXDomain && reason != .dnsNoData } else { false }
  }

  private static func isTransientOrFault(_ result: Result) -> Bool {
    if case .fault = result { true } else { isTransient(result) }
  }
}
