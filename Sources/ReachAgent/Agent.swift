internal import Glibc
public import ReachConfig
internal import ReachCore
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
  private let file: String
  private let plugins: [PluginResult]
  private let warnings: [String]
  private let loop: EventLoop
  private let log: Logger
  private let sink: DescriptorSink
  private let store: StateStore
  private let board: TargetBoard
  private let scheduler: Scheduler
  private let server: HTTPServer
  private let tightness: SelfChecks.Trouble?
  private let isStopping: LoopConfined<Bool>
  /// nil where no target is a name.
  private let resolverFiles: ResolverFiles?
  private let slowLook: SlowLook

  private var targetCount: Int { board.targets.count }

  /// How long `run` may take to end: the bound that the interface promises is two seconds.
  private static let stopTime = Duration.milliseconds(1_500)

  private static let signals = [SIGTERM, SIGINT, SIGHUP]

  /// Has signals that arrive from now on wait until `run` takes them. Call it before anything that takes time.
  public static func holdSignals() { SignalWatch.block(signals) }

  /// Builds everything and begins to listen; nothing is probed before `run`. Throws when the agent cannot start.
  public init(_ preparation: Preparation, _ overrides: AgentOverrides = AgentOverrides()) throws(AgentError) {
    guard let configuration = preparation.configuration else { throw AgentError("the configuration has errors") }
    // The configuration itself is not kept: at ten thousand targets it is most of what would be.
    file = preparation.file
    // First: it changes the environment, which takes that there is no other thread.
    let inherited = InheritedSockets.take()
    plugins = preparation.plugins
    warnings = preparation.problems.map(\.description)
    SignalWatch.ignoreBrokenPipes()
    do { loop = try EventLoop() } catch { throw AgentError("no event loop: \(error)") }
    isStopping = LoopConfined(false, on: loop)
    (sink, log) = try Self.logging(configuration.log, overrides, loop)
    let effective = overrides.applied(to: configuration)
    let addresses = Self.addresses(effective, overrides, inherited, log)
    let budget = DescriptorBudget.ofThisProcess(listeners: addresses.count)
    tightness = budget.tightness
    let host = try ProbeHost.open(configuration, within: budget, on: loop)
    store = StateStore(
      directory: configuration.stateDirectory, targets: configuration.targets.map(\.target), on: loop
    ) { [log] in log.log(.selfCheck(check: "state", problem: $0.problem, remedy: $0.remedy)) }
    board = TargetBoard(
      try Self.watched(configuration, preparation.plugins, host, store.takeRestored()),
      agent: Self.series(of: preparation), budget: budget, loop: loop, log: log, store: store,
      onReady: StartupMemory.release)
    scheduler = Scheduler(
      loop: loop, settings: Self.schedulerSettings(within: budget), onLookEnd: { [board] in board.lookEnded() }
    ) { [board] tag, event in
      board.observe(tag, event)
    }
    host.links.onChange { [scheduler, log] change in
      if let resync = change.resyncDuration { log.log(.netlinkOverrun(resync: resync)) }
      scheduler.pathsMayHaveChanged(
        PathChange(
          links: change.links, receivedAt: change.receivedAt, hasFlaps: change.kinds.contains(.flap)))
    }
    resolverFiles = Self.resolverFiles(for: board.targets, scheduler, loop)
    slowLook = SlowLook(on: loop) { [resolverFiles] in
      host.links.recheck()
      resolverFiles?.recheck()
    }
    let endpoint = Endpoint(
      board: board, host: host, store: store, configuration: effective.kept(preparation.plugins)
    ) { [sink] in sink.dropped }
    server = HTTPServer(on: loop, routes: endpoint.routes, limits: Self.limits(within: budget)) { [board] path, code in
      board.agent.withState { $0.recordRequest(path: path, code: code) }
    }
    do {
      try server.listen(on: addresses)
    } catch {
      throw AgentError("\(error)")
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
    scheduler.add(board.targets.enumerated().map { ScheduledTarget($1.runner, tag: $0) })
    loop.run()
    withExtendedLifetime(signals) {}
  }

  // MARK: Start

  private static func logging(
    _ settings: LogSettings, _ overrides: AgentOverrides, _ loop: EventLoop
  ) throws(AgentError) -> (DescriptorSink, Logger) {
    let format: LogFormat =
      switch overrides.logFormat ?? settings.format ?? .json {
      case .json: .json
      case .logfmt: .logfmt
      case .text: .text(colour: overrides.isColoured)
      }
    let output: LogOutput =
      switch settings.output {
      case .standardError: .standardError
      case .standardOutput: .standardOutput
      case .file(let path): .file(path: path)
      }
    let level = LogLevel(rawValue: (overrides.logLevel ?? settings.level).rawValue) ?? .info
    do {
      let sink = try DescriptorSink(output, format: format, on: loop)
      return (sink, Logger(level: level, sink: sink))
    } catch {
      throw AgentError("the log cannot be written (\(error)): see log.output in the configuration")
    }
  }

  private static func watched(
    _ configuration: Configuration, _ plugins: [PluginResult], _ host: ProbeHost,
    _ restored: [String: RestoredTarget]
  ) throws(AgentError) -> [WatchedTarget] {
    var pool = BackendPool(plugins, host: host)
    let detail = MetricsDetail(rawValue: configuration.metrics.detail.rawValue) ?? .standard
    var watched: [WatchedTarget] = []
    watched.reserveCapacity(configuration.targets.count)
    for target in configuration.targets {
      let runner = try pool.runner(for: target)
      let known = restored[runner.target.name]
      watched.append(WatchedTarget(runner, key: watched.count, detail: detail, restored: known, on: host.loop))
    }
    return watched
  }

  private static func resolverFiles(
    for targets: [WatchedTarget], _ scheduler: Scheduler, _ loop: EventLoop
  ) -> ResolverFiles? {
    let hasNames = targets.contains { if case .host = $0.target.kind { true } else { false } }
    return hasNames ? ResolverFiles(on: loop) { scheduler.namesMayHaveChanged() } : nil
  }

  private static func schedulerSettings(within budget: DescriptorBudget) -> SchedulerSettings {
    var settings = SchedulerSettings()
    settings.maximumInFlight = budget.rounds
    return settings
  }

  private static func limits(within budget: DescriptorBudget) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = UInt32(clamping: budget.clientsPerListener)
    limits.connectionsPerAddress = min(limits.connectionsPerAddress, limits.connections)
    return limits
  }

  private static func series(of preparation: Preparation) -> AgentSeries {
    var series = AgentSeries(
      version: BuildInformation.version, revision: BuildInformation.revision, swiftVersion: BuildInformation.swift)
    series.plugins = preparation.plugins.compactMap(\.plugin).map { (plugin: $0.name, version: $0.version) }
    series.isLastReloadSuccessful = true
    series.lastReloadSuccess = WallClock.nanosecondsSinceEpoch()
    return series
  }

  private func announce() {
    for result in plugins {
      switch result {
      case .loaded(let plugin):
        log.log(.pluginLoaded(plugin: plugin.name, file: plugin.file, version: plugin.version))
      case .rejected(let plugin):
        log.log(.pluginRejected(plugin: plugin.name, file: plugin.file ?? "", reason: plugin.reason))
      }
    }
    log.log(.configLoaded(file: file, problems: warnings))
    if let check = resolverFiles?.selfCheck { log.log(check) }
    var started = LogEvent.agentStarted(
      version: BuildInformation.version, config: file, targets: targetCount)
    if let trouble = tightness {
      log.log(.selfCheck(check: trouble.check, problem: trouble.problem, remedy: trouble.remedy))
    }
    let places = server.addresses.map { $0.url ?? $0.description }
    if !places.isEmpty { started.message += "; open " + places.joined(separator: " or ") }
    log.log(started)
  }

  // MARK: Stop

  private func received(_ signal: Int32) {
    if signal == SIGHUP {
      return log.log(
        .selfCheck(
          check: "reload", problem: "SIGHUP was received, but the configuration cannot be re-read yet",
          remedy: "restart reachd"))
    }
    let isFirst = isStopping.withState { stopping in
      defer { stopping = true }
      return !stopping
    }
    if isFirst { loop.spawn { [self] in await stop() } }
  }

  private func stop() async {
    log.log(.agentStopping(version: BuildInformation.version, config: file, targets: targetCount))
    let deadline = loop.now().advanced(by: Self.stopTime)
    await server.stop(by: loop.now().advanced(by: .milliseconds(500)))
    await scheduler.stop(within: .milliseconds(500))
    await store.close(board.records, by: deadline.advanced(by: .milliseconds(-100)))
    await sink.flush(until: deadline)
    loop.stop()
  }
}
