internal import ReachConfig
internal import ReachCore
internal import ReachPluginHost
internal import ReachProbe
internal import ReachScheduler

/// Makes backends, one for each set of options: targets with the same options share one.
struct BackendPool {
  private struct Key: Hashable {
    let name: String
    let options: OptionValues
  }

  private let plugins: [String: LoadedPlugin]
  private let host: ProbeHost
  private var backends: [Key: any ProbeBackend] = [:]

  init(_ results: [PluginResult], host: ProbeHost) {
    plugins = results.reduce(into: [:]) { $0[$1.name] = $1.plugin }
    self.host = host
  }

  /// The probes of a target. One whose plugin is not loaded is there without a backend, so that every round says so.
  mutating func probes(of target: ConfiguredTarget) throws(OptionError) -> [PlannedProbe] {
    var probes: [PlannedProbe] = []
    for probe in target.probes {
      let plugin = plugins[probe.backend]
      probes.append(
        PlannedProbe(
          name: probe.backend, layer: plugin?.layer ?? Layer(rawValue: probe.backend) ?? .local,
          backend: try plugin.map { (plugin) throws(OptionError) in try backend(plugin, probe.options) },
          timeout: probe.timeout))
    }
    return probes
  }

  private mutating func backend(
    _ plugin: LoadedPlugin, _ options: OptionValues
  ) throws(OptionError) -> any ProbeBackend {
    let key = Key(name: plugin.name, options: options)
    if let known = backends[key] { return known }
    let backend = try plugin.registration.make(options, host)
    backends[key] = backend
    return backend
  }
}
