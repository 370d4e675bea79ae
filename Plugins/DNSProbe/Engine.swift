internal import Glibc
internal import ReachCore
internal import ReachIO
internal import ReachProbe

/// Carries out resolutions: owns the jobs under way and the answers kept. Touched on the loop alone.
///
/// All decisions are those of `Resolution` and `AnswerCache`; here queries are sent, replies carried to whom they
/// concern, and timers kept. Replies are queued and worked off one by one, so nothing here calls itself.
final class Engine {
  /// Called back later, on the loop.
  weak var resolver: Resolver?

  private let loop: EventLoop
  private let options: DNSOptions
  private var files: SystemFiles
  private var cache = AnswerCache(capacity: 16_384)
  private var jobs: [UInt64: Job] = [:]
  private var jobsByKey: [AnswerCache.Key: Job] = [:]
  private var channels: ChannelPool
  private var lastNumber: UInt64 = 0
  private var isSweepScheduled = false
  /// Queries that wait for a socket, in order; none of a job that has ended.
  private var deferred: [(job: UInt64, order: Resolution.Order)] = []

  init(options: DNSOptions, paths: SystemFiles.Paths, loop: EventLoop, allowance: SocketAllowance, holder: Int) {
    self.loop = loop
    self.options = options
    files = SystemFiles(paths: paths)
    channels = ChannelPool(loop: loop, allowance: allowance, holder: holder)
  }

  /// A number that was never given before.
  func nextNumber() -> UInt64 {
    lastNumber += 1
    return lastNumber
  }

  /// How many resolutions are under way.
  var jobCount: Int { jobs.count }

  /// How many channels are open.
  var openChannelCount: Int { channels.count }

  // MARK: Answers that need no query

  /// The finding for a name that is known without asking, or cannot be asked for.
  func immediate(_ key: AnswerCache.Key, policy: TargetPolicy, log: (any ProbeLog)?) -> DNSFinding? {
    let now = loop.now()
    if options.servers == nil {
      files.refresh(at: now)
      let listed = files.hostsAddresses(of: key.name)
      if !listed.isEmpty {
        log?.note("\(key.name) is in the hosts file: \(listed.map(\.description).joined(separator: " "))")
        return localFinding(listed)
      }
    }
    if key.name == "localhost" || key.name.hasSuffix(".localhost") {
      log?.note("\(key.name) is this host (RFC 6761)")
      return localFinding([IPAddress(ipv6High: 0, low: 1), IPAddress(ipv4: 0x7f00_0001)])
    }
    if options.servers == nil, files.configuration.servers.isEmpty { return faultOfConfiguration(log) }
    guard options.usesCache, let entry = cache.fresh(key, at: now, generation: files.generation, policy: policy) else {
      return nil
    }
    log?.note("\(key.name) is known from an answer of \(now.since(entry.storedAt).inSeconds) s ago")
    return DNSFinding(
      .resolved, addresses: entry.addresses, ipv4: entry.ipv4, ipv6: entry.ipv6, ttl: entry.ttl, isCached: true)
  }

  private func localFinding(_ addresses: [IPAddress]) -> DNSFinding {
    let outcome = options.families.map { family in
      let found = addresses.filter { $0.family == family }
      return found.isEmpty ? QueryPlan.Verdict.noData : .addresses(found, ttl: 0)
    }
    var finding = DNSFinding(outcome, families: options.families)
    finding.ttl = nil
    return finding
  }

  private func faultOfConfiguration(_ log: (any ProbeLog)?) -> DNSFinding {
    let fault =
      if let code = files.failure {
        LocalFault(
          .probeError(code), detail: "/etc/resolv.conf cannot be read (\(code))",
          remedy: Surroundings.current.remedy(for: .reading("/etc/resolv.conf")))
      } else {
        LocalFault(
          .resolverConfig,
          detail: "no name server in /etc/resolv.conf; put a 'nameserver' line there, or give the option 'server'")
      }
    log?.note("\(fault.reason): \(fault.detail)")
    return DNSFinding(.fault(fault))
  }

  // MARK: Jobs

  /// Lets a probe wait for the resolution of its name, which begins now unless it is under way.
  func join(_ key: AnswerCache.Key, _ waiter: Job.Waiter) {
    let now = loop.now()
    let deadline = waiter.deadline
    var waiter = waiter
    // With an older answer at hand nobody waits to the end: the time is needed to connect to what is known. The
    // resolution itself goes on, for the rounds to come.
    if cache.stale(key, at: now) != nil { waiter.deadline = Self.patience(from: now, to: deadline) }
    if let job = jobsByKey[key], isCurrent(job) {
      job.waiters.append(waiter)
      waiter.log?.note("\(key.name) is being resolved for another target, or since an earlier round")
      job.resolution.deadline = max(job.resolution.deadline, deadline)
      return schedule(job)
    }
    let job = makeJob(key, deadline: deadline, now: now)
    job.waiters.append(waiter)
    jobs[job.number] = job
    jobsByKey[key] = job
    var orders: [Resolution.Order] = []
    job.resolution.begin(at: now, &orders)
    send(orders, for: job, at: now)
    finishIfDecided(job, at: now)
    work()
    schedule(job)
  }

  /// Whether the servers that it asks, where nobody named them, are still the system's.
  private func isCurrent(_ job: Job) -> Bool { options.servers != nil || job.generation == files.generation }

  /// A quarter of the time there is.
  private static func patience(from now: Instant, to deadline: Instant) -> Instant {
    now.advanced(byNanoseconds: max(0, deadline.nanoseconds(since: now) / 4))
  }

  private func makeJob(_ key: AnswerCache.Key, deadline: Instant, now: Instant) -> Job {
    let system = files.configuration
    let servers = options.servers ?? system.servers
    let transport = options.transport ?? (options.servers == nil && system.usesTCP ? .tcp : .udp)
    let rules = Resolution.Rules(
      families: options.families, servers: servers.count, tries: options.tries, transport: transport,
      usesEDNS: options.usesEDNS, leastGrace: options.leastGrace)
    if options.servers != nil, key.usesSearchList { files.refresh(at: now) }
    let names = key.usesSearchList ? files.configuration.candidates(for: key.name) : [key.name]
    return Job(
      number: nextNumber(), key: key, servers: servers, families: options.families, generation: files.generation,
      resolution: Resolution(names: names, rules: rules, now: now, deadline: deadline))
  }

  /// A probe waits no longer.
  func cancel(waiter number: UInt64) {
    for job in jobs.values {
      guard let index = job.waiters.firstIndex(where: { $0.number == number }) else { continue }
      let waiter = job.waiters.remove(at: index)
      waiter.continuation.resume(returning: DNSFinding(.failed(.dnsTimeout)))
      if job.waiters.isEmpty { end(job) }
      return
    }
  }

  /// A job's timer has fired.
  func timerFired(job number: UInt64) {
    guard let job = jobs[number] else { return }
    job.timer = nil
    // Timers come before descriptors in the loop's turn: after a spell in which this process did not get to run, the
    // answer may be here although the time is over.
    channels.readWaiting(for: job.exchanges)
    work()
    guard jobs[number] != nil else { return }
    let now = loop.now()
    for ticket in job.resolution.overdue(at: now) {
      if let exchange = job.exchanges.first(where: { $0.ticket == ticket }) { channels.suspect(exchange) }
    }
    var orders: [Resolution.Order] = []
    job.resolution.advance(to: now, &orders)
    send(orders, for: job, at: now)
    finishIfDecided(job, at: now)
    work()
    releaseOverdueWaiters(of: job, at: now)
    schedule(job)
  }

  private func releaseOverdueWaiters(of job: Job, at now: Instant) {
    guard jobs[job.number] != nil, job.waiters.contains(where: { $0.deadline <= now }) else { return }
    let finding = completed(DNSFinding(job.resolution.outcomeForNow(), families: job.families), of: job, at: now)
    for waiter in job.waiters where waiter.deadline <= now { waiter.continuation.resume(returning: finding) }
    job.waiters.removeAll { $0.deadline <= now }
    if job.waiters.isEmpty, job.resolution.deadline <= now { end(job) }
  }

  private func schedule(_ job: Job) {
    guard jobs[job.number] != nil else { return }
    let due = job.waiters.reduce(job.resolution.wake) { min($0, $1.deadline) }
    if let timer = job.timer {
      // A timer that fires early finds nothing to do and is set anew: cheaper than moving it with every reply.
      if timer.due <= due { return }
      loop.cancel(timer.id)
    }
    let number = job.number
    let id = loop.schedule(at: due) { [weak resolver] in resolver?.timerFired(job: number) }
    job.timer = (id, due)
  }

  private func finishIfDecided(_ job: Job, at now: Instant) {
    guard let outcome = job.resolution.outcome, jobs[job.number] != nil else { return }
    let finding = completed(DNSFinding(outcome, families: job.families), of: job, at: now)
    keep(finding, of: job, at: now)
    if let count = Self.surplus(outcome) {
      job.note("\(count) addresses, \(DNSFinding.mostAddresses) of them used")
    }
    job.note("\(job.key.name): \(Self.text(finding))")
    for waiter in job.waiters { waiter.continuation.resume(returning: finding) }
    job.waiters = []
    end(job)
  }

  private func end(_ job: Job) {
    if let timer = job.timer { loop.cancel(timer.id) }
    jobs[job.number] = nil
    if jobsByKey[job.key] === job { jobsByKey[job.key] = nil }
    channels.abandon(job.exchanges)
    job.exchanges = []
    if !deferred.isEmpty { deferred.removeAll { $0.job == job.number } }
    channels.yieldIdle()
    guard channels.needsSweep, !isSweepScheduled else { return }
    isSweepScheduled = true
    let due = loop.now().advanced(by: .milliseconds(Int64(Channel.timeoutMilliseconds) + 100))
    loop.schedule(at: due) { [weak resolver] in resolver?.sweepDue() }
  }

  /// Clears away queries that c-ares holds and nobody waits for.
  func sweep() {
    isSweepScheduled = false
    channels.sweep()
    work()
    guard channels.needsSweep else { return }
    isSweepScheduled = true
    loop.schedule(at: loop.now().advanced(by: .seconds(1))) { [weak resolver] in resolver?.sweepDue() }
  }

  // MARK: Queries and replies

  /// A channel's socket is ready.
  func ready(channel number: UInt64, _ descriptor: Int32, _ readiness: Readiness) {
    channels.process(number, descriptor, readiness)
    work()
  }

  private func send(_ orders: [Resolution.Order], for job: Job, at now: Instant) {
    for order in orders {
      let server = job.servers[order.query.server]
      job.asks(server)
      job.note(
        "asking \(server) for \(order.question.name) \(order.question.typeName) over \(order.query.transport.rawValue)"
          + (order.query.usesEDNS ? "" : ", without EDNS") + (order.query.attempt == 0 ? "" : ", again"))
      transmit(order, for: job)
    }
  }

  private func transmit(_ order: Resolution.Order, for job: Job) {
    let key = ChannelKey(
      server: job.servers[order.query.server], transport: order.query.transport, usesEDNS: order.query.usesEDNS,
      source: job.key.source)
    let sending = channels.send(order, for: job.number, to: key) { [weak resolver] number in
      { resolver?.ready(channel: number, $0, $1) }
    }
    switch sending {
    case .sent(let exchange):
      job.exchanges.append(exchange)
      job.attempts += 1
    case .failed: break
    case .deferred:
      job.note("the query waits for a descriptor")
      deferred.append((job.number, order))
    }
  }

  /// Sockets have been given back: the queries that wait for one are sent, as far as there are enough.
  func sendDeferred() {
    let waiting = deferred
    deferred = []
    for (number, order) in waiting {
      if let job = jobs[number] { transmit(order, for: job) }
    }
    work()
  }

  /// Closes the sockets that nobody waits for an answer on: others need them more.
  func closeIdleSockets() { channels.closeIdle() }

  /// Carries every reply that has come in to its job, and what that leads to, until there is none left.
  private func work() {
    let now = loop.now()
    while let arrival = channels.nextArrival() {
      guard let job = jobs[arrival.job] else { continue }
      job.note("\(arrival.server): \(arrival.typeName) \(arrival.reply.text)")
      var orders: [Resolution.Order] = []
      job.resolution.receive(arrival.reply, for: arrival.ticket, at: now, &orders)
      send(orders, for: job, at: now)
      finishIfDecided(job, at: now)
      schedule(job)
    }
  }

  // MARK: Findings

  private func completed(_ finding: DNSFinding, of job: Job, at now: Instant) -> DNSFinding {
    var finding = finding
    finding.servers = job.serversInOrder
    finding.attempts = job.attempts
    if job.attempts == 0, finding.isTransientFailure, deferred.contains(where: { $0.job == job.number }) {
      // Nobody was asked, so nobody has failed to answer.
      finding.result = .fault(Self.noDescriptor)
    }
    guard let known = cache.stale(job.key, at: now) else { return finding }
    if finding.isTransientFailure || finding.isFault {
      finding.addresses = known.addresses
      finding.isStale = true
    } else if finding.isPartial {
      // What is known of the family that did not answer stays in use, so that one lost datagram does not make a
      // family's addresses come and go.
      let missing = known.addresses.filter { finding.isMissing($0.family) }
      finding.addresses = DNSFinding.ordered(finding.addresses + missing)
    }
    return finding
  }

  private static let noDescriptor = LocalFault(
    errno: EMFILE, detail: "no descriptor was free to ask a name server with",
    remedy: Surroundings.current.remedy(for: .descriptors))

  private func keep(_ finding: DNSFinding, of job: Job, at now: Instant) {
    guard isCurrent(job) else { return }
    switch finding.result {
    case .resolved:
      let entry = AnswerCache.Entry(
        addresses: finding.addresses, ipv4: finding.ipv4, ipv6: finding.ipv6, ttl: finding.ttl ?? .zero, storedAt: now,
        generation: job.generation, isPartial: finding.isPartial)
      cache.store(entry, for: job.key)
    case .failed(.dnsNXDomain), .failed(.dnsNoData): cache.remove(job.key)
    case .failed, .fault: break
    }
  }

  /// How many addresses there were when they were too many.
  private static func surplus(_ outcome: Resolution.Outcome) -> Int? {
    guard case .addresses(let all, _) = Resolution.combined(outcome) else { return nil }
    return all.count > DNSFinding.mostAddresses ? all.count : nil
  }

  private static func text(_ finding: DNSFinding) -> String {
    let addresses = finding.addresses.map(\.description).joined(separator: " ")
    switch finding.result {
    case .resolved: return "resolved to \(addresses)"
    case .failed(let reason): return finding.isStale ? "\(reason); still using \(addresses)" : reason.description
    case .fault(let fault): return "\(fault.reason): \(fault.detail)"
    }
  }
}
