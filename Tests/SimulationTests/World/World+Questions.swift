import ReachCore

@testable import DNSProbe
@testable import ReachNetlink
@testable import ReachScheduler

/// What the world answers when it is asked.
extension World {
  // MARK: Routes

  /// The kernel's routing decision. `scope` is the place of the interface that the question is bound to.
  func decision(for address: IPAddress, scope: Int? = nil) -> (route: Route?, refusal: Reason?) {
    if isProhibited { return (nil, .routeProhibit) }
    for network in Place.networks(holding: address) {
      var best: Route?
      for route in routes where route.network == network && (scope == nil || route.place == scope) {
        if ignoresRoutesWithLinkDown, let place = route.place, interfaces[place]?.hasCarrier != true { continue }
        if let known = best, known.metric <= route.metric { continue }
        best = route
      }
      guard let best else { continue }
      return best.place == nil ? (nil, best.refusal ?? .routeUnreachable) : (best, nil)
    }
    return (nil, .noRoute)
  }

  /// The answer to RTM_GETROUTE as the route probe hands it on. `name` knows interfaces by index.
  func finding(for address: IPAddress, scope: String?, _ name: (Int32) -> String) -> RouteFinding {
    if refusesQuestions { return RouteFinding(.fault(FaultCode(errno: 105))) }
    var place: Int?
    if let scope {
      guard let interface = interface(named: scope) else { return RouteFinding(.refused(.scopeNoDevice)) }
      place = interface.place
    }
    let decision = decision(for: address, scope: place)
    if let refusal = decision.refusal { return RouteFinding(.refused(refusal)) }
    guard let route = decision.route, let place = route.place, let interface = interfaces[place] else {
      return RouteFinding(.refused(.noRoute))
    }
    return RouteFinding(
      .unicast, interfaceIndex: interface.index, interface: name(interface.index), gateway: route.gateway,
      isOnLink: route.gateway == nil)
  }

  // MARK: Connections

  /// Connections that have been begun along a round's candidates.
  struct Attempt {
    var began: Int64
    var deadline: Int64
    var findings: [TCPFinding]
    /// When each is answered; `.max` for one that is not.
    var answeredAt: [Int64]
    /// The places they leave by.
    var places: [Int]
    var isStuck = false
    /// How often connections had been cut off when it began.
    var cut: Int

    /// When it is next to be looked at.
    var due: Int64 { min(deadline, answeredAt.max() ?? began) }
  }

  func connect(_ candidates: [Candidate], scope: String?, at now: Int64, until deadline: Int64) -> Attempt {
    var attempt = Attempt(began: now, deadline: deadline, findings: [], answeredAt: [], places: [], cut: cuts)
    attempt.isStuck = now < stuckUntil
    for candidate in candidates {
      let (finding, at, place) = begin(candidate, scope, now)
      attempt.findings.append(finding)
      attempt.answeredAt.append(at)
      attempt.places.append(place)
    }
    return attempt
  }

  private func begin(_ candidate: Candidate, _ scope: String?, _ now: Int64) -> (TCPFinding, Int64, Int) {
    guard candidate.canBeTried, let address = candidate.address else { return (TCPFinding(.notRun), now, -1) }
    if lacksDescriptors { return (TCPFinding(.fault(FaultCode(errno: 24))), now, -1) }
    let bound = scope.flatMap { interface(named: $0)?.place }
    if scope != nil, bound == nil { return (TCPFinding(.fault(FaultCode(errno: 19))), now, -1) }
    let decision = decision(for: address, scope: bound)
    guard let route = decision.route, let place = route.place, let interface = interfaces[place] else {
      return (TCPFinding(.refusedLocally((decision.refusal ?? .noRoute).errno)), now, -1)
    }
    guard interface.isUsable, let host = Place.of(address) else { return (Self.timeout, .max, place) }
    let at = now + delays[host.rawValue]
    switch answers[host.rawValue] {
    case .open:
      let delay = Duration.nanoseconds(delays[host.rawValue])
      return (TCPFinding(.open, rtt: delay, duration: delay), at, place)
    case .refused: return (TCPFinding(.failed(.tcpRefused)), at, place)
    case .failed(let reason): return (TCPFinding(.failed(reason)), at, place)
    case .silent: return (Self.timeout, .max, place)
    }
  }

  private static let timeout = TCPFinding(.failed(.tcpTimeout))

  /// What has come of connections; nil while an answer may yet come.
  func outcome(of attempt: inout Attempt, at now: Int64) -> [TCPFinding]? {
    if attempt.cut < cuts { return attempt.findings.map { $0.result == .notRun ? $0 : Self.timeout } }
    for index in attempt.findings.indices where attempt.answeredAt[index] > attempt.began {
      let place = attempt.places[index]
      // An answer does not come by an interface that could not be used in the meantime, nor by one that is gone.
      let isLost = place >= 0 && interfaces[place].map { $0.unusableAt > attempt.began || !$0.isUsable } ?? true
      if isLost || attempt.answeredAt[index] > attempt.deadline {
        attempt.findings[index] = Self.timeout
        attempt.answeredAt[index] = .max
      }
    }
    return attempt.due <= now ? attempt.findings : nil
  }

  // MARK: Names

  /// A resolution under way.
  struct Question {
    var key: AnswerCache.Key
    var policy: TargetPolicy
    var began: Int64
    var due: Int64
    var result: DNSFinding.Result
    var cut: Int
    var addresses: [IPAddress]
  }

  enum Resolution {
    case known(DNSFinding)
    case asked(Question)
  }

  func resolve(_ name: String, _ policy: TargetPolicy, at now: Int64, until deadline: Int64) -> Resolution {
    let key = AnswerCache.Key(name: name, usesSearchList: policy.search, source: SourceBinding())
    let instant = Instant(nanoseconds: now)
    if let entry = answered.fresh(key, at: instant, generation: 0, policy: policy) {
      return .known(
        DNSFinding(.resolved, addresses: entry.addresses, ipv4: entry.ipv4, ttl: entry.ttl, isCached: true))
    }
    if lacksDescriptors { return .known(failed(.fault(LocalFault(errno: 24)), key, at: now)) }
    // Part of the time is kept for connecting.
    let patience = now + (deadline - now) / 2
    var question = Question(
      key: key, policy: policy, began: now, due: patience, result: .failed(.dnsTimeout), cut: cuts, addresses: [])
    let decision = decision(for: Place.resolver.address)
    guard let place = decision.route?.place else {
      question.result = .failed(.dnsUnreachable)
      question.due = now
      return .asked(question)
    }
    guard interfaces[place]?.isUsable == true, now + resolverDelay <= patience else { return .asked(question) }
    switch resolver {
    case .silent: return .asked(question)
    case .failed(let reason): question.result = .failed(reason)
    case .answers:
      question.result = .resolved
      question.addresses = addresses.map(\.address)
    }
    question.due = now + resolverDelay
    return .asked(question)
  }

  func outcome(of question: Question, at now: Int64) -> DNSFinding {
    if question.cut < cuts { return failed(.failed(.dnsTimeout), question.key, at: now) }
    switch question.result {
    case .resolved:
      let entry = AnswerCache.Entry(
        addresses: question.addresses, ipv4: .resolved, ipv6: nil, ttl: ttl, storedAt: Instant(nanoseconds: now),
        generation: 0, isPartial: false)
      answered.store(entry, for: question.key)
      return DNSFinding(
        .resolved, addresses: question.addresses, ipv4: .resolved, ttl: ttl, servers: [Place.resolver.address],
        attempts: 1)
    case .failed(.dnsNXDomain), .failed(.dnsNoData):
      answered.remove(question.key)
      return DNSFinding(question.result, servers: [Place.resolver.address], attempts: 1)
    case .failed, .fault: return failed(question.result, question.key, at: now)
    }
  }

  private func failed(_ result: DNSFinding.Result, _ key: AnswerCache.Key, at now: Int64) -> DNSFinding {
    let stale = answered.stale(key, at: Instant(nanoseconds: now))
    return DNSFinding(
      result, addresses: stale?.addresses ?? [], isStale: stale != nil, servers: [Place.resolver.address], attempts: 1)
  }
}

extension Reason {
  /// What connect(2) fails with for a routing decision.
  fileprivate var errno: FaultCode {
    switch self {
    case .routeProhibit: FaultCode(errno: 13)
    case .routeBlackhole: FaultCode(errno: 22)
    case .routeUnreachable: FaultCode(errno: 113)
    default: FaultCode(errno: 101)
    }
  }
}
