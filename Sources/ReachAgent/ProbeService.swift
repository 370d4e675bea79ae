internal import ReachBlackbox
internal import ReachConfig
internal import ReachCore
internal import ReachHTTP
internal import ReachIO
internal import ReachPluginHost
internal import ReachProbe

/// Answers `/probe` and `/logs`: probes what a request names, by one of the configured modules, if that is allowed.
///
/// Isolation: on the event loop.
final class ProbeService: Sendable {
  /// Probes that run together; a storm of requests is refused beyond rather than kept.
  static let mostRunning = 512

  struct State {
    var settings: ProbeSettings
    var defaults: TargetPolicy
    var pool: BackendPool
    /// The resolver's own options; its cache is passed by, since a probe is to see what is so now.
    var resolverOptions: OptionValues
    /// Made when it is first needed.
    var allowance: ProbeAllowance?
    var history = ProbeHistory()
    var running: [UInt64: Task<Void, Never>] = [:]
    var next: UInt64 = 0
    var unknownModules: UInt64 = 0
    var isStopped = false
  }

  let host: ProbeHost
  let state: LoopConfined<State>
  private let credentials: TLSClientCredentials
  /// The targets as they are now.
  private let roster: LoopConfined<Roster>

  /// A service for these settings and for the targets of that roster.
  init(
    _ configuration: Configuration, _ plugins: [PluginResult], _ roster: LoopConfined<Roster>, on host: ProbeHost
  ) {
    self.host = host
    self.roster = roster
    credentials = TLSClientCredentials(on: host.loop)
    state = LoopConfined(Self.state(configuration, BackendPool(plugins, host: host)), on: host.loop)
  }

  private static func state(_ configuration: Configuration, _ pool: BackendPool) -> State {
    let dns = configuration.backends.first { $0.name == "dns" }?.options ?? OptionValues()
    let declared = pool.options(of: "dns")
    var options: [String: OptionValue] = [:]
    for option in declared { options[option.name] = dns[option.name] ?? option.defaultValue }
    if declared.contains(where: { $0.name == "cache" }) { options["cache"] = .boolean(false) }
    return State(
      settings: configuration.probing, defaults: configuration.defaults, pool: pool,
      resolverOptions: OptionValues(options))
  }

  /// Takes the settings of a configuration that has been loaded anew. Probes that run go on as they began.
  func replace(_ configuration: Configuration, _ plugins: [PluginResult]) {
    let fresh = Self.state(configuration, BackendPool(plugins, host: host))
    state.withState { state in
      state.settings = fresh.settings
      state.defaults = fresh.defaults
      state.pool = fresh.pool
      state.resolverOptions = fresh.resolverOptions
      state.allowance = nil
    }
  }

  /// Has what is declared looked at anew.
  func targetsChanged() { state.withState { $0.allowance = nil } }

  /// Ends the probes that run, and takes no more.
  func stop() {
    let running = state.withState { state in
      state.isStopped = true
      return Array(state.running.values)
    }
    for task in running { task.cancel() }
  }

  /// Requests for a module that there is not; nil where there are no modules at all.
  var unknownModules: UInt64? { state.withState { $0.settings.modules.isEmpty ? nil : $0.unknownModules } }

  /// The probes that are kept, the newest first.
  var history: [ProbeHistory.Entry] { state.withState { $0.history.entries } }

  // MARK: Requests

  /// Why a request is not answered with metrics.
  struct Rejection: Error {
    let status: Int
    let text: String
  }

  /// Answers a request for a probe.
  func probe(_ request: HTTPRequest, _ reply: HTTPReply) {
    do throws(Rejection) {
      let order = try order(request)
      reply.allow(order.timeout + .seconds(5))
      try start(order, reply)
    } catch {
      reply.send(.rejection(error))
    }
  }

  /// What a request asks for, found to be in order.
  struct Order {
    let module: ConfiguredModule
    let target: Target
    /// The target as the request names it.
    let text: String
    let hostname: String?
    let timeout: Duration
    let allowance: ProbeAllowance
    let grant: ProbeAllowance.Grant
    let isDebug: Bool
  }

  private func order(_ request: HTTPRequest) throws(Rejection) -> Order {
    guard let text = request.parameter("target"), !text.isEmpty else {
      throw Rejection(status: 400, text: "Target parameter is missing")
    }
    let module = try module(request.parameter("module"))
    let timeout: Duration
    do throws(ProbeTimeout.BadHeader) {
      timeout = try ProbeTimeout.duration(header: request.header(ProbeTimeout.header), module: module.timeout)
    } catch {
      throw Rejection(status: 400, text: error.description)
    }
    let target = try target(text)
    let allowance = allowance()
    do throws(ProbeAllowance.Refusal) {
      let grant = try allowance.grant(target, port: Self.port(target, module))
      let hostname = request.parameter("hostname").flatMap { $0.isEmpty ? nil : $0 }
      return Order(
        module: module, target: target, text: text, hostname: hostname, timeout: timeout, allowance: allowance,
        grant: grant, isDebug: request.parameter("debug") == "true")
    } catch {
      throw Rejection(status: 403, text: error.description)
    }
  }

  private func module(_ asked: String?) throws(Rejection) -> ConfiguredModule {
    let (name, found) = state.withState { state in
      let name = asked.flatMap { $0.isEmpty ? nil : $0 } ?? state.settings.defaultModule
      let found = name.flatMap { state.settings.module($0) }
      if name != nil, found == nil { state.unknownModules &+= 1 }
      return (name, found)
    }
    if let found { return found }
    guard let name else {
      throw Rejection(status: 400, text: "Module parameter is missing, and there is no 'default_module'")
    }
    throw Rejection(status: 400, text: "Unknown module \"\(name.prefix(100))\"")
  }

  /// The declared target of that name, or what the text says.
  private func target(_ text: String) throws(Rejection) -> Target {
    if let declared = roster.withState({ $0[text] }) { return declared.target }
    do throws(ValueError) {
      return try Target(probing: text, policy: state.withState { $0.defaults })
    } catch {
      throw Rejection(status: 400, text: error.description)
    }
  }

  private func allowance() -> ProbeAllowance {
    if let known = state.withState({ $0.allowance }) { return known }
    let allowance = ProbeAllowance(
      rules: state.withState { $0.settings.allow }, declared: roster.withState { $0.all }.lazy.map(\.target))
    state.withState { $0.allowance = allowance }
    return allowance
  }

  /// The port that something is sent to.
  private static func port(_ target: Target, _ module: ConfiguredModule) -> UInt16? {
    if case .dns(let dns) = module.kind { return target.port ?? (dns.usesTLS ? 853 : 53) }
    return target.port
  }

  // MARK: Probing

  private func start(_ order: Order, _ reply: HTTPReply) throws(Rejection) {
    let busy = Rejection(status: 503, text: "too many probes are under way; ask again in a moment")
    let (isStopped, running) = state.withState { ($0.isStopped, $0.running.count) }
    if isStopped { throw Rejection(status: 503, text: "reachd is stopping") }
    guard running < Self.mostRunning, host.connections.take(upTo: 1) == 1 else { throw busy }
    let number = state.withState { state in
      state.next &+= 1
      return state.next
    }
    let task = host.loop.spawn { [self] in
      let response = await run(order)
      host.connections.giveBack(1)
      state.withState { $0.running[number] = nil }
      reply.send(response)
    }
    state.withState { $0.running[number] = task }
  }

  private func run(_ order: Order) async -> HTTPResponse {
    let log = ProbeLogbook(module: order.module.name, target: order.text)
    log.note(
      .info, "Beginning probe", ["probe": order.module.backend, "timeout_seconds": "\(order.timeout.inSeconds)"])
    let start = host.loop.now()
    let probe = ModuleProbe(
      of: order.target, hostname: order.hostname, by: start.advanced(by: order.timeout), on: host,
      resolver: resolver(log), allowance: order.allowance, grant: order.grant,
      credentials: credentials, log: log)
    var metrics = ProbeMetrics()
    let outcome =
      switch order.module.kind {
      case .tcp(let tcp): await probe.run(tcp, into: &metrics)
      case .dns(let dns): await probe.run(dns, into: &metrics)
      case .round(let round): await self.round(round, probe, order.timeout, into: &metrics)
      }
    if Task.isCancelled { return .rejection(Rejection(status: 503, text: "reachd is stopping")) }
    let report = ProbeReport(outcome, metrics, took: host.loop.now().since(start), of: order.timeout, log: log)
    return answer(order, report, log)
  }

  private func resolver(_ log: ProbeLogbook) -> (any ProbeBackend)? {
    state.withState { state in
      do throws(OptionError) {
        return try state.pool.backend(named: "dns", state.resolverOptions)
      } catch {
        log.note(.error, "Resolver cannot be made", ["option": error.option, "err": error.message])
        return nil
      }
    }
  }

  private func answer(_ order: Order, _ report: ProbeReport, _ log: ProbeLogbook) -> HTTPResponse {
    switch report.outcome {
    case .refused(let refusal): return .rejection(Rejection(status: 403, text: refusal.description))
    case .fault, .success, .failure: break
    }
    let options = state.withState { $0.pool.options(of: order.module.backend) }
    let page = DebugPage.text(
      log: log, metrics: report.metrics, module: ModuleText.text(of: order.module, declared: options))
    state.withState {
      $0.history.add(
        module: order.module.name, target: order.text, isSuccess: report.outcome == .success,
        at: WallClock.nanosecondsSinceEpoch(), page: page)
    }
    if order.isDebug { return .text(page) }
    if case .fault(let fault) = report.outcome {
      // Nothing was learnt of the target, so nothing is said of it.
      return .rejection(Rejection(status: 503, text: "this host cannot probe: \(fault.reason) \(fault.detail)"))
    }
    return HTTPResponse(
      contentType: "text/plain; version=0.0.4; charset=utf-8", body: .bytes(Array(report.metrics.text.utf8)))
  }

  // MARK: Logs

  /// Answers a request for what is known of a probe: the newest of a target, or the one of a number.
  func logs(_ request: HTTPRequest) -> HTTPResponse {
    if let text = request.parameter("id") {
      guard let number = UInt64(text) else { return .text("id takes a number\n", status: 400) }
      let found = state.withState { $0.history.entry(number) }
      return found.map { .text($0.page) } ?? .text("the probe of this id is not kept\n", status: 404)
    }
    guard let target = request.parameter("target"), !target.isEmpty else {
      return .text("Target parameter is missing\n", status: 400)
    }
    if let found = state.withState({ $0.history.newest(of: target) }) { return .text(found.page) }
    guard let declared = roster.withState({ $0[target] }) else {
      return .text("no probe of this target is kept, and it is not a declared one\n", status: 404)
    }
    var json = JSONWriter()
    declared.view.write(to: &json)
    json.endLine()
    return .text(
      "There was no /probe of this target. What the agent itself sees of it:\n"
        + String(decoding: json.bytes, as: UTF8.self))
  }
}

extension HTTPResponse {
  fileprivate static func rejection(_ rejection: ProbeService.Rejection) -> HTTPResponse {
    var response = HTTPResponse.text(rejection.text + "\n", status: rejection.status)
    if rejection.status == 503 { response.headers.append(HTTPRequest.Field("Retry-After", "1")) }
    return response
  }
}
