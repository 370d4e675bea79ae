internal import Glibc
public import ReachConfig
internal import ReachCore
internal import ReachDiscovery
internal import ReachHTTP
internal import ReachIO
internal import ReachLog
internal import ReachMetrics
internal import ReachNetlink
internal import ReachPluginHost
internal import ReachProbe
internal import ReachScheduler
internal import ReachState

/// What the command line may say instead of the configuration.
public struct AgentOverrides: Sendable {
  /// Where to serve; empty: as configured.
  public var listen: [ReachConfig.ListenAddress] = []
  /// From which level on to log.
  public var logLevel: LogSettings.Level?
  /// How to write log lines.
  public var logFormat: LogSettings.Format?
  /// Whether log lines may be coloured.
  public var isColoured = false
  /// Nothing instead.
  public init() {}
}

/// The agent: the parts of reachd on one event loop, wired together.
public final class Agent: Sendable {
  let file: String
  let overrides: AgentOverrides
  let loop: EventLoop
  let log: Logger
  let sink: DescriptorSink
  let store: StateStore
  let board: TargetBoard
  let scheduler: Scheduler
  let host: ProbeHost
  let server: HTTPServer
  let web: WebAccess
  let reloader: Reloader
  let service: ServiceManager
  /// Whether the listening sockets are the service manager's, and not the configuration's to change.
  let listensByActivation: Bool
  let inForce: LoopConfined<InForce>
  /// Changes of what is watched happen one after another.
  let gate: Gate
  let files: FileWatch
  let discovery: DiscoveryInForce
  private let warnings: [String]
  let probes: ProbeService
  private let startTroubles: [SelfChecks.Trouble]
  private let isStopping: LoopConfined<Bool>
  private let slowLook: SlowLook

  private var targetCount: Int { board.roster.withState { $0.count } }

  /// How long `run` may take to end: the bound that the interface promises is two seconds.
  private static let stopTime = Duration.milliseconds(1_500)

  private static let signals = [SIGTERM, SIGINT, SIGHUP]

  /// How long the interfaces of a host may take to appear before it is said that there are none.
  private static let interfacePatience = Duration.seconds(10)

  /// Has signals that arrive from now on wait until `run` takes them. Call it before anything that takes time.
  ///
  /// As the first process of a PID namespace it is left the children of others when these end before them (reparenting,
  /// pid_namespaces(7)). It starts none itself, so the kernel may forget each as it ends: no zombie stays.
  public static func holdSignals() {
    SignalWatch.block(signals)
    if getpid() == 1 { SignalWatch.forgetEndedChildren() }
  }

  /// Builds everything and begins to listen; nothing is probed before `run`. Throws when the agent cannot start.
  public init(_ preparation: Preparation, _ overrides: AgentOverrides = AgentOverrides()) throws(AgentError) {
    guard let configuration = preparation.configuration else { throw AgentError("the configuration has errors") }
    // Looked at while the environment is as it was.
    _ = Surroundings.current
    // The configuration itself is not kept: at ten thousand targets it is most of what would be.
    file = preparation.file
    self.overrides = overrides
    SignalWatch.ignoreBrokenPipes()
    do { loop = try EventLoop() } catch { throw AgentError("no event loop: \(error)") }
    // Both change the environment, which takes that there is no other thread.
    let inherited = InheritedSockets.take()
    service = ServiceManager(on: loop)
    isStopping = LoopConfined(false, on: loop)
    let effective = overrides.applied(to: configuration)
    do {
      sink = try DescriptorSink(
        LogOutput(effective.log.output), format: LogFormat(effective.log, isColoured: overrides.isColoured), on: loop)
    } catch {
      throw AgentError(effective.log.refusal(error))
    }
    log = Logger(level: LogLevel(effective.log.level), sink: sink)
    let addresses = Self.addresses(effective, overrides, inherited, log)
    listensByActivation = overrides.listen.isEmpty && !inherited.addresses.isEmpty
    let isProbing = !configuration.probing.modules.isEmpty
    let budget = DescriptorBudget.ofThisProcess(
      listeners: addresses.count,
      clients: isProbing ? DescriptorBudget.mostProbingClients : DescriptorBudget.mostClients)
    let host = try ProbeHost.open(configuration, within: budget, on: loop)
    self.host = host
    let refusal = host.netlink.refusal.map { SelfChecks.Trouble(netlinkRefusedBy: $0) }
    startTroubles = [budget.tightness, refusal].compactMap { $0 }
    store = StateStore(
      directory: configuration.stateDirectory, targets: configuration.targets.map(\.target), on: loop
    ) { [log] in log.log(.selfCheck(check: "state", problem: $0.problem, remedy: $0.remedy)) }
    board = TargetBoard(
      agent: AgentSeries(of: preparation), budget: budget, loop: loop, log: log, store: store,
      onReady: StartupMemory.release)
    scheduler = Scheduler(
      loop: loop, settings: Self.schedulerSettings(within: budget), onLookEnd: { [board] in board.lookEnded() }
    ) { [board] tag, event in
      board.observe(tag, event)
    }
    var force = InForce(effective, preparation.plugins, effective.kept(preparation.plugins), host)
    let first = try RosterChange(of: Roster(), .declared, to: configuration.targets, with: &force.pool)
    _ = first.commit(on: board, detail: force.detail, restored: store.takeRestored())
    inForce = LoopConfined(force, on: loop)
    gate = Gate(on: loop)
    files = FileWatch(on: loop)
    discovery = DiscoveryInForce(Self.discovery(by: configuration, on: loop, log), on: loop)
    slowLook = SlowLook(on: loop) { [inForce, files, discovery] in
      host.links.recheck()
      inForce.withState { $0.resolverFiles }?.recheck()
      files.recheck()
      discovery.current?.recheck()
    }
    reloader = Reloader(preparation.file, content: preparation.contentHash, on: loop)
    warnings = preparation.problems.map(\.description)
    probes = ProbeService(configuration, preparation.plugins, board.roster, on: host)
    let endpoint = Endpoint(
      board: board, host: host, store: store, probes: probes, inForce: inForce, reloader: reloader,
      discovery: discovery
    ) { [sink] in sink.dropped }
    server = HTTPServer(on: loop, routes: endpoint.routes, limits: Self.limits(within: budget, isProbing)) {
      [board] path, code in
      board.agent.withState { $0.recordRequest(path: path, code: code) }
    }
    web = WebAccess(server, watch: files, on: loop, log: log)
    try web.apply(preparation.web)
    do {
      try server.listen(on: addresses)
    } catch {
      throw AgentError("\(error)")
    }
    reloader.serve(self)
    host.links.onChange { [scheduler, log] change in
      if let resync = change.resyncDuration { log.log(.netlinkOverrun(resync: resync)) }
      scheduler.pathsMayHaveChanged(
        PathChange(
          links: change.links, receivedAt: change.receivedAt, hasFlaps: change.kinds.contains(.flap)))
    }
  }

  /// Runs on the calling thread until SIGTERM or SIGINT, then stops everything within two seconds. Throws when signals
  /// cannot be had.
  public func run() throws(AgentError) {
    let signals: SignalWatch
    do {
      signals = try SignalWatch(Self.signals, on: loop) { [self] signal in received(signal) }
    } catch {
      throw AgentError("signals cannot be received: \(error)")
    }
    announce()
    scheduler.add(board.targets.map { ScheduledTarget($0.runner, tag: $0.key) })
    beginDiscovery()
    if let error = service.ready() { log.log(SelfChecks.Trouble(managerNotTold: error).event) }
    loop.schedule(at: loop.now().advanced(by: Self.interfacePatience)) { [weak self] in self?.checkInterfaces() }
    loop.run()
    withExtendedLifetime(signals) {}
  }

  // MARK: Start

  private static func schedulerSettings(within budget: DescriptorBudget) -> SchedulerSettings {
    var settings = SchedulerSettings()
    settings.maximumInFlight = budget.rounds
    return settings
  }

  private static func limits(within budget: DescriptorBudget, _ isProbing: Bool) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = UInt32(clamping: budget.clientsPerListener)
    // One Prometheus may have a hundred probes under way.
    limits.connectionsPerAddress =
      isProbing ? limits.connections - limits.connections / 4 : min(limits.connectionsPerAddress, limits.connections)
    return limits
  }

  private func announce() {
    say(inForce.withState { $0.plugins })
    log.log(.configLoaded(file: file, problems: warnings))
    watchFiles()
    var started = LogEvent.agentStarted(
      version: BuildInformation.version, config: file, targets: targetCount)
    for trouble in startTroubles { log.log(trouble.event) }
    let places = server.addresses.map { $0.url(isSecure: server.isSecure) ?? $0.description }
    if !places.isEmpty { started.message += "; open " + places.joined(separator: " or ") }
    log.log(started)
  }

  private func checkInterfaces() {
    guard host.netlink.refusal == nil else { return }
    let trouble = SelfChecks.Trouble(seeing: host.links.links, for: board.targets.map(\.target))
    if let trouble { log.log(trouble.event) }
  }

  // MARK: Stop

  private func received(_ signal: Int32) {
    if signal == SIGHUP { return reloader.request(.request) }
    let isFirst = isStopping.withState { stopping in
      defer { stopping = true }
      return !stopping
    }
    if isFirst { loop.spawn { [self] in await stop() } }
  }

  private func stop() async {
    service.stopping()
    discovery.current?.stop()
    log.log(.agentStopping(version: BuildInformation.version, config: file, targets: targetCount))
    let deadline = loop.now().advanced(by: Self.stopTime)
    probes.stop()
    await server.stop(by: loop.now().advanced(by: .milliseconds(500)))
    await scheduler.stop(within: .milliseconds(500))
    await store.close(board.records, by: deadline.advanced(by: .milliseconds(-100)))
    await sink.flush(until: deadline)
    loop.stop()
  }
}
