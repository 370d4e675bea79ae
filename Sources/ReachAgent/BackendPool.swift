internal import ReachConfig
internal import ReachCore
internal import ReachPluginHost
internal import ReachProbe
internal import ReachScheduler

/// Makes backends and what runs them, sharing what is the same: one backend for each set of options, one plan for each
/// list of probes.
struct BackendPool {
  private struct BackendKey: Hashable {
    let name: String
    let options: OptionValues
  }

  private struct PlanKey: Hashable {
    let probes: [ConfiguredProbe]
    let kind: String
  }

  private var plugins: [String: LoadedPlugin]
  private let host: ProbeHost
  private var backends: [BackendKey: any ProbeBackend] = [:]
  private var plans: [PlanKey: [PlannedProbe]] = [:]

  init(_ results: [PluginResult], host: ProbeHost) {
    plugins = results.reduce(into: [:]) { $0[$1.name] = $1.plugin }
    self.host = host
  }

  /// The backends that are loaded.
  var names: Set<String> { Set(plugins.keys) }

  /// Has these plugins serve from now on. Backends that are there go on; plans are made anew, since a backend that was
  /// missing may be there now.
  mutating func renew(_ results: [PluginResult]) {
    plugins = results.reduce(into: [:]) { $0[$1.name] = $1.plugin }
    plans = [:]
  }

  /// Lets go of what no target uses any more: sockets and answers that a backend has kept go with it.
  mutating func keep(only targets: [WatchedTarget]) {
    let used = Set(targets.lazy.flatMap(\.probes).map { BackendKey(name: $0.backend, options: $0.options) })
    backends = backends.filter { used.contains($0.key) }
    plans = [:]
  }

  /// What runs the probes of a target. A probe whose plugin is not loaded is there without a backend, so that every
  /// round says so.
  mutating func runner(for target: ConfiguredTarget) throws(AgentError) -> RoundRunner {
    let key = PlanKey(probes: target.probes, kind: target.target.kindName)
    if let plan = plans[key] { return RoundRunner(target: target.target, probes: plan, host: host) }
    do throws(OptionError) {
      let runner = RoundRunner(target: target.target, probes: try plan(target.probes), host: host)
      // The runner has put the probes into their order: the next one with the same list takes them as they are.
      plans[key] = runner.probes
      return runner
    } catch {
      throw AgentError("target '\(target.target.name)': option '\(error.option)': \(error.message)")
    }
  }

  /// The backend of that name with these options; nil when its plugin is not loaded.
  mutating func backend(named name: String, _ options: OptionValues) throws(OptionError) -> (any ProbeBackend)? {
    guard let plugin = plugins[name] else { return nil }
    return try backend(plugin, options)
  }

  /// What a backend declares; nothing when its plugin is not loaded.
  func options(of name: String) -> [ProbeOption] { plugins[name]?.registration.options ?? [] }

  private mutating func plan(_ probes: [ConfiguredProbe]) throws(OptionError) -> [PlannedProbe] {
    var plan: [PlannedProbe] = []
    for probe in probes {
      let plugin = plugins[probe.backend]
      plan.append(
        PlannedProbe(
          name: probe.backend, layer: plugin?.layer ?? Layer(rawValue: probe.backend) ?? .local,
          backend: try plugin.map { (plugin) throws(OptionError) in try backend(plugin, probe.options) },
          timeout: probe.timeout))
    }
    return plan
  }

  private mutating func backend(
    _ plugin: LoadedPlugin, _ options: OptionValues
  ) throws(OptionError) -> any ProbeBackend {
    let key = BackendKey(name: plugin.name, options: options)
    if let known = backends[key] { return known }
    let backend = try plugin.registration.make(options, host)
    backends[key] = backend
    return backend
  }
}
