import ReachCore
import ReachProbe

@testable import LinkProbe
@testable import ReachNetlink
@testable import ReachScheduler

/// The kernel's messages, and looks at paths.
extension MiniatureAgent {
  // MARK: The link monitor

  /// As `LinkMonitor.drain`.
  func readMessages() {
    monitor.beginBatch(at: instant)
    var (count, isWhole) = (0, true)
    reading: while true {
      switch world.receive() {
      case .bytes(let bytes):
        count += 1
        monitor.take(unsafe bytes.span.bytes)
      case .loss:
        isWhole = false
        monitor.noteLoss()
      case .nothing: break reading
      }
    }
    let step = monitor.finishBatch(at: instant)
    auditor.note(
      "read \(count) messages\(isWhole ? "" : ", not all"), next reading \(String(describing: monitor.nextRead))")
    if !isWhole { auditor.lost(untilReadAgain: world.disturbedReadings + 1) }
    perform(step)
  }

  /// As `LinkMonitor.perform`.
  func perform(_ step: MonitorCore.Step) {
    switch step {
    case .rest: break
    case .tell(let change): tell(change)
    case .read: readInterfaces()
    }
  }

  func readInterfaces() {
    if world.refusesQuestions { return perform(monitor.failRead(at: instant)) }
    auditor.note("all interfaces are read")
    var dump = LinkDump(links: world.table)
    if world.disturbedReadings > 0 {
      world.disturbedReadings -= 1
      dump = LinkDump(links: Array(dump.links.dropFirst()), isWhole: false)
    }
    perform(monitor.take(dump, from: instant, to: instant))
  }

  /// As the handlers that the route probe and the agent have: forget what was believed, then look.
  private func tell(_ change: NetworkChange) {
    auditor.told(change)
    routes.forget()
    core.looking.note(
      PathChange(links: change.links, receivedAt: change.receivedAt, hasFlaps: change.kinds.contains(.flap)),
      at: instant)
    lookIfDue()
  }

  func linkFinding(index: Int32) -> LinkFinding? {
    if let known = judge(index) { return known }
    // A route may lead to an interface so new that its message still waits.
    readMessages()
    return judge(index)
  }

  private func judge(_ index: Int32) -> LinkFinding? {
    guard let link = monitor.table.links[index] else { return nil }
    return LinkClassifier(links: monitor.table.links, wwanInterfaces: []).finding(of: link)
  }

  func linkFinding(named name: String) -> LinkFinding {
    if let index = monitor.table.link(named: name)?.index, let finding = linkFinding(index: index) { return finding }
    return LinkFinding(interface: name, index: 0, medium: .other, state: .missing)
  }

  // MARK: Route and link

  /// What the route or the link probe sees of each candidate.
  func pathEvidence(_ layer: Layer, _ target: Target, _ candidates: [Candidate]) -> Result<Evidence, LocalFault> {
    if world.lacksMemory { return .failure(LocalFault(errno: 12)) }
    if layer == .route { return .success(.route(candidates.map { route($0, of: target) })) }
    if case .interface(let name) = target.kind {
      return .success(.link(candidates.map { _ in linkFinding(named: name) }))
    }
    return .success(
      .link(
        candidates.map { candidate in
          candidate.route.flatMap { Egress(of: $0).finding { linkFinding(index: $0) } }
        }))
  }

  private func route(_ candidate: Candidate, of target: Target) -> RouteFinding {
    guard let address = candidate.address else { return RouteFinding(.fault(FaultCode(errno: 22))) }
    let scope = target.source.interface
    let isRemembered =
      candidate.role == .target && scope == nil && (target.kindName == "address" || target.kindName == "host")
    if isRemembered, candidate.route == nil, let known = routes.finding(for: address, at: now) { return known }
    let finding = world.finding(for: address, scope: scope) { linkFinding(index: $0)?.interface ?? "" }
    if isRemembered { routes.keep(finding, for: address, at: now) }
    return finding
  }

  // MARK: Looks

  /// As `Scheduler.lookIfDue`: the look begins once what is under way has come to wait.
  func lookIfDue() {
    if let number = core.beginLook(at: instant) { look = (number, nil, now) }
  }

  /// As `Scheduler.look`: a look goes on, at a target that it has seen by now or at the first.
  func goOn(_ seen: SchedulerState.Key?, _ number: UInt32) {
    look = nil
    if let seen { look(at: seen, number) }
    while let key = core.looking.next(for: number, at: instant) {
      if lookTime > 0 {
        look = (number, key, now + lookTime)
        return
      }
      look(at: key, number)
    }
    if core.looking.end(number, at: instant) { lookEnded() }
    lookIfDue()
    perform(core.takeActions())
  }

  /// As `Scheduler.look(at:)` and `RoundRunner.lookAtPath`.
  private func look(at key: SchedulerState.Key, _ number: UInt32) {
    guard let slot = core.slot(of: key), let kept = slot.kept else { return }
    let runner = slot.runner
    var findings = kept.findings(runner.probeSet, of: runner.target.kind, defaultPath: runner.host.defaultPath)
    for probe in runner.probes where probe.layer == .route || probe.layer == .link {
      guard runner.hasPath(for: probe.layer, findings) else { continue }
      switch pathEvidence(probe.layer, runner.target, findings.candidates) {
      case .success(let evidence): findings.replacePath(evidence)
      case .failure(let fault): findings.fault = findings.fault ?? fault
      }
    }
    let before = kept.path.hash
    guard let look = core.renew(key, kept, findings, number, at: instant) else { return }
    if core.slot(of: key)?.kept?.path.hash != before {
      standings[slot.tag].pathChanges += 1
      // The round's task is cancelled by `renew` itself.
      cancelOutdated(key)
    }
    looked(look, slot.tag)
  }

  private func cancelOutdated(_ key: SchedulerState.Key) {
    guard Int(key.index) < core.schedule.entries.count else { return }
    let entry = core.schedule.entries[Int(key.index)]
    if entry.phase == .running, entry.isOutdated { cancelRound(key) }
  }
}

/// What `RouteMemory` does, without a host: believes good IPv4 answers until something changes, for five seconds at most.
struct RouteMemoryModel {
  private var entries: [IPAddress: (finding: RouteFinding, askedAt: Int64)] = [:]

  static let lifetime = 5 * Time.second

  func finding(for address: IPAddress, at now: Int64) -> RouteFinding? {
    guard let entry = entries[address], now - entry.askedAt < Self.lifetime else { return nil }
    return entry.finding
  }

  mutating func keep(_ finding: RouteFinding, for address: IPAddress, at now: Int64) {
    guard address.family == .ipv4, finding.isRoutable else { return }
    entries[address] = (finding, now)
  }

  mutating func forget() { entries.removeAll(keepingCapacity: true) }
}
