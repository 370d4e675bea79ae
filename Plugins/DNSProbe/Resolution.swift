internal import ReachCore

/// Decides how a name is resolved: both families side by side, one candidate name after the other.
///
/// Neither family waits for the other to be asked. Once one has addresses, or says that the name does not exist, the
/// other gets as long again as the first took, at least 200 ms and at most a quarter of the whole time; then the
/// resolution ends with what there is (after RFC 8305 section 3, which has 50 ms for a person who waits). A plain value without sockets or a clock.
struct Resolution: Sendable {
  /// What may be asked of each server.
  struct Rules: Hashable, Sendable {
    var families: [IPAddress.Family]
    var servers: Int
    var tries: Int
    var transport: QueryPlan.Transport
    var usesEDNS: Bool
    /// The least time that the slower family gets.
    var leastGrace = Duration.milliseconds(200)
  }

  /// A query to send.
  struct Order: Hashable, Sendable {
    let ticket: Ticket
    let question: DNSQuestion
    let query: QueryPlan.Order
  }

  /// Names one query of a resolution.
  struct Ticket: Hashable, Sendable {
    let candidate: Int
    let track: Int
    let attempt: Int
  }

  /// What came of it, family by family in the order of the rules.
  typealias Outcome = [QueryPlan.Verdict]

  private struct Track {
    let question: DNSQuestion
    var plan: QueryPlan
  }

  /// How it ended; nil while it goes on.
  private(set) var outcome: Outcome?
  /// The end of the time given to it. May be put off while it goes on.
  var deadline: Instant
  /// The server that gave the first answer that counts.
  private(set) var answeredBy: Int?

  private let rules: Rules
  private let names: [String]
  private var candidate = -1
  private var tracks: [Track] = []
  private var begunAt: Instant
  private var graceEnd: Instant?
  private var sawEmptyName = false

  /// A resolution of the first of `names` that exists, from `now` to `deadline`.
  init(names: [String], rules: Rules, now: Instant, deadline: Instant) {
    self.names = names
    self.rules = rules
    self.deadline = deadline
    begunAt = now
  }

  /// When `advance` has something to do.
  var wake: Instant {
    var wake = min(deadline, graceEnd ?? .distantFuture)
    for track in tracks { wake = min(wake, track.plan.wake ?? .distantFuture) }
    return wake
  }

  /// The queries that have stayed unanswered for longer than a step.
  func overdue(at now: Instant) -> [Ticket] {
    tracks.indices.flatMap { index in
      tracks[index].plan.attempts.filter { $0.isPending && $0.sentAt.advanced(by: tracks[index].plan.step) <= now }
        .map { Ticket(candidate: candidate, track: index, attempt: $0.order.attempt) }
    }
  }

  /// Adds the first queries to `orders`.
  mutating func begin(at now: Instant, _ orders: inout [Order]) { tryNextName(at: now, &orders) }

  /// Takes what came of a query, and adds the queries it calls for.
  mutating func receive(_ reply: DNSReply, for ticket: Ticket, at now: Instant, _ orders: inout [Order]) {
    guard outcome == nil, ticket.candidate == candidate, tracks.indices.contains(ticket.track) else { return }
    let order = tracks[ticket.track].plan.receive(reply, for: ticket.attempt, at: now)
    if let order { orders.append(self.order(order, track: ticket.track)) }
    if answeredBy == nil { answeredBy = tracks[ticket.track].plan.answeredBy }
    evaluate(at: now, &orders)
  }

  /// Does what the time calls for: asks again, or ends.
  mutating func advance(to now: Instant, _ orders: inout [Order]) {
    guard outcome == nil else { return }
    if now >= deadline || now >= graceEnd ?? .distantFuture { return end(at: now, &orders) }
    for index in tracks.indices {
      if let order = tracks[index].plan.advance(to: now) { orders.append(self.order(order, track: index)) }
    }
  }

  /// What it comes to when no more can be waited for.
  func outcomeForNow() -> Outcome { outcome ?? tracks.map { $0.plan.verdictForNow() } }

  // MARK: Steps

  private func order(_ order: QueryPlan.Order, track: Int) -> Order {
    Order(
      ticket: Ticket(candidate: candidate, track: track, attempt: order.attempt), question: tracks[track].question,
      query: order)
  }

  private mutating func tryNextName(at now: Instant, _ orders: inout [Order]) {
    repeat { candidate += 1 } while candidate < names.count && !isAskable(names[candidate])
    guard candidate < names.count else {
      let verdict: QueryPlan.Verdict = sawEmptyName ? .noData : .nxDomain
      outcome = rules.families.map { _ in verdict }
      return
    }
    begunAt = now
    graceEnd = nil
    answeredBy = nil
    let budget = max(.zero, deadline.since(now))
    tracks = rules.families.compactMap { family in
      guard let question = DNSQuestion(name: names[candidate], family: family) else { return nil }
      let plan = QueryPlan(
        servers: rules.servers, tries: rules.tries, transport: rules.transport, usesEDNS: rules.usesEDNS,
        budget: budget, now: now)
      return Track(question: question, plan: plan)
    }
    for index in tracks.indices {
      if let order = tracks[index].plan.begin(at: now) { orders.append(self.order(order, track: index)) }
    }
  }

  private func isAskable(_ name: String) -> Bool { DNSQuestion(name: name, family: .ipv4) != nil }

  private mutating func evaluate(at now: Instant, _ orders: inout [Order]) {
    let verdicts = tracks.map(\.plan.verdict)
    if !verdicts.contains(nil) { return end(at: now, &orders) }
    let isTelling = verdicts.contains { verdict in
      switch verdict {
      case .addresses, .nxDomain: true
      case .noData, .failed, .fault, nil: false
      }
    }
    if isTelling, graceEnd == nil { graceEnd = now.advanced(by: grace(after: now.since(begunAt))) }
  }

  private func grace(after elapsed: Duration) -> Duration {
    min(max(elapsed, rules.leastGrace), max(.zero, deadline.since(begunAt)) / 4)
  }

  /// Ends this name's turn: with the next name where this one has no addresses, else for good.
  private mutating func end(at now: Instant, _ orders: inout [Order]) {
    let verdicts = outcomeForNow()
    let isEmpty = verdicts.allSatisfy { $0 == .noData || $0 == .nxDomain }
    if isEmpty, names.count > 1, now < deadline {
      sawEmptyName = sawEmptyName || verdicts.contains(.noData)
      return tryNextName(at: now, &orders)
    }
    outcome = verdicts
  }

  /// The verdict over all families together.
  static func combined(_ verdicts: Outcome) -> QueryPlan.Verdict {
    var addresses: [IPAddress] = []
    var ttl = UInt32.max
    for case .addresses(let found, let least) in verdicts {
      addresses += found
      ttl = min(ttl, least)
    }
    if !addresses.isEmpty { return .addresses(addresses, ttl: ttl) }
    if verdicts.contains(.nxDomain), !verdicts.contains(.noData) { return .nxDomain }
    let open = verdicts.filter { $0 != .noData && $0 != .nxDomain }
    return QueryPlan.mostTelling(open) ?? .noData
  }
}
