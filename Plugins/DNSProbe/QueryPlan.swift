internal import ReachCore

/// Decides, for one question, which server is asked next and what the answers come to.
///
/// The servers are asked in turn: the next one as soon as one has failed, or has stayed silent for a step. A silent
/// server is asked again when its turn comes; one that has said no is not. Every query stays open to the end, so a
/// late answer counts. A plain value without sockets or a clock: its methods return the query to send.
struct QueryPlan: Sendable {
  /// How a question travels.
  enum Transport: String, Hashable, Sendable {
    case udp, tcp
  }

  /// What all servers together said.
  enum Verdict: Hashable, Sendable {
    case addresses([IPAddress], ttl: UInt32)
    case noData
    case nxDomain
    case failed(Reason)
    case fault(LocalFault)
  }

  /// A query to send.
  struct Order: Hashable, Sendable {
    /// Which attempt it is, counted from 0.
    let attempt: Int
    /// The server's place in the list.
    let server: Int
    let transport: Transport
    let usesEDNS: Bool
  }

  /// One query that was sent.
  struct Attempt: Hashable, Sendable {
    let order: Order
    let sentAt: Instant
    fileprivate(set) var isPending = true
  }

  private struct Server {
    var transport: Transport
    var usesEDNS: Bool
    var tries = 0
    var wasTruncated = false
    var failure: Verdict?
  }

  /// What is known for certain; nil while it is open.
  private(set) var verdict: Verdict?
  /// What was sent so far.
  private(set) var attempts: [Attempt] = []
  /// The server that gave the verdict, where one did.
  private(set) var answeredBy: Int?
  /// How long a server may stay silent before the next is asked.
  let step: Duration

  private var servers: [Server]
  private let triesPerServer: Int
  private var turn = 0
  private var lastSent: Instant

  /// A plan for `servers` servers, each to be asked up to `tries` times, all within `budget` from `now` on.
  init(servers: Int, tries: Int, transport: Transport, usesEDNS: Bool, budget: Duration, now: Instant) {
    self.servers = Array(repeating: Server(transport: transport, usesEDNS: usesEDNS), count: servers)
    triesPerServer = tries
    lastSent = now
    let share = budget / max(1, servers * tries + 1)
    step = max(.milliseconds(50), min(.seconds(1), share))
  }

  /// When `advance` has something to do; nil when only answers are awaited.
  var wake: Instant? { verdict == nil && hasNext ? lastSent.advanced(by: step) : nil }

  /// The first query; nil when there is no server.
  mutating func begin(at now: Instant) -> Order? { next(at: now) }

  /// The query that the passing of time calls for.
  mutating func advance(to now: Instant) -> Order? {
    guard let wake, wake <= now else { return nil }
    return next(at: now)
  }

  /// Takes what came of an attempt. Returns the query it calls for.
  mutating func receive(_ reply: DNSReply, for attempt: Int, at now: Instant) -> Order? {
    guard verdict == nil, attempts.indices.contains(attempt), attempts[attempt].isPending else { return nil }
    attempts[attempt].isPending = false
    let order = attempts[attempt].order
    switch reply {
    case .addresses(let addresses, let ttl): settle(.addresses(addresses, ttl: ttl), by: order.server)
    case .noData: settle(.noData, by: order.server)
    case .nxDomain: settle(.nxDomain, by: order.server)
    case .formatError where order.usesEDNS && servers[order.server].usesEDNS:
      servers[order.server].usesEDNS = false
      return send(to: order.server, at: now)
    case .truncated where order.transport == .udp:
      guard servers[order.server].transport == .udp else { return nil }
      servers[order.server].transport = .tcp
      servers[order.server].wasTruncated = true
      return send(to: order.server, at: now)
    case .closed where servers[order.server].tries < triesPerServer:
      return send(to: order.server, at: now)
    case .timedOut:
      concludeIfExhausted()
    default:
      return fail(order.server, with: reply, at: now)
    }
    return nil
  }

  /// What it comes to when no more can be waited for.
  func verdictForNow() -> Verdict {
    if let verdict { return verdict }
    let truncated = servers.contains { $0.wasTruncated && $0.failure == nil }
    let failures = servers.compactMap(\.failure) + (truncated ? [.failed(.dnsTruncated)] : [])
    return Self.mostTelling(failures) ?? .failed(.dnsTimeout)
  }

  /// The failure that says most: a fault of this host, then what a server said, then that none could be reached or
  /// answered.
  static func mostTelling(_ verdicts: [Verdict]) -> Verdict? {
    verdicts.min { rank($0) < rank($1) }
  }

  private static let telling: [Reason] = [
    .dnsServFail, .dnsRefused, .dnsNotImp, .dnsFormErr, .dnsTruncated, .dnsMalformed, .dnsTransient, .dnsUnreachable,
    .dnsTimeout,
  ]

  private static func rank(_ verdict: Verdict) -> Int {
    switch verdict {
    case .addresses: 0
    case .nxDomain: 1
    case .noData: 2
    case .fault: 3
    case .failed(let reason): 4 + (telling.firstIndex(of: reason) ?? telling.count)
    }
  }

  // MARK: Turns

  private mutating func settle(_ verdict: Verdict, by server: Int) {
    self.verdict = verdict
    answeredBy = server
  }

  private mutating func fail(_ server: Int, with reply: DNSReply, at now: Instant) -> Order? {
    servers[server].failure = Self.failure(reply, afterTruncation: servers[server].wasTruncated)
    let othersPending = attempts.contains { $0.isPending && servers[$0.order.server].failure == nil }
    if othersPending { return nil }
    if let order = next(at: now) { return order }
    verdict = verdictForNow()
    return nil
  }

  private static func failure(_ reply: DNSReply, afterTruncation: Bool) -> Verdict {
    switch reply {
    case .fault(let fault): .fault(fault)
    case .failed(let reason): .failed(reason)
    case .formatError: .failed(.dnsFormErr)
    case .truncated: .failed(.dnsTruncated)
    case .unreachable: .failed(afterTruncation ? .dnsTruncated : .dnsUnreachable)
    case .closed: .failed(afterTruncation ? .dnsTruncated : .dnsTransient)
    case .timedOut: .failed(afterTruncation ? .dnsTruncated : .dnsTimeout)
    case .addresses, .noData, .nxDomain: .failed(.dnsTransient)
    }
  }

  private mutating func concludeIfExhausted() {
    guard !hasNext, !attempts.contains(where: { $0.isPending && servers[$0.order.server].failure == nil }) else {
      return
    }
    verdict = verdictForNow()
  }

  private var hasNext: Bool { servers.indices.contains(where: isEligible) }

  /// A TCP connection repeats by itself what gets lost, so a question that is under way on one is not asked again.
  private func isEligible(_ server: Int) -> Bool {
    let state = servers[server]
    guard state.failure == nil, state.tries < triesPerServer else { return false }
    if state.transport == .udp { return true }
    return !attempts.contains { $0.isPending && $0.order.server == server && $0.order.transport == .tcp }
  }

  private mutating func next(at now: Instant) -> Order? {
    for _ in servers.indices {
      let server = turn % servers.count
      turn += 1
      if isEligible(server) { return send(to: server, at: now) }
    }
    return nil
  }

  private mutating func send(to server: Int, at now: Instant) -> Order {
    servers[server].tries += 1
    lastSent = now
    let order = Order(
      attempt: attempts.count, server: server, transport: servers[server].transport,
      usesEDNS: servers[server].usesEDNS)
    attempts.append(Attempt(order: order, sentAt: now))
    return order
  }
}
