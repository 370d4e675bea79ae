internal import ReachCore
internal import ReachProbe

/// Reads a whole file.
struct ConfigurationReader {
  private static let keys =
    ["backends", "plugin_path", "defaults", "targets", "web", "wwan_interfaces", "default_path", "log", "state_dir"]
    + ["metrics", "watch", "targets_from"] + ModulesReader.keys

  let problems: ProblemList
  /// The folder of the file, which relative paths in it begin at; empty for the working directory.
  let folder: String

  /// The configuration, as far as it can be told; whether it is any good, the problems say.
  func read(_ root: YAMLNode?, optionsOf: (String) -> [ProbeOption]?) -> Configuration {
    let fields = root.map {
      Fields($0, in: "the file", known: Self.keys, ignoring: "x-", problems: problems)
    }
    let service = ServiceReader(problems: problems)
    let backends = BackendsReader(problems: problems).read(fields?["backends"], optionsOf: optionsOf)
    let defaults = readDefaults(fields?["defaults"])
    let metrics = service.metrics(fields?["metrics"])
    let byName = Dictionary(backends.map { ($0.name, $0) }) { first, _ in first }
    // A file that is no map has been refused as a whole.
    let isFile = fields?.isMap ?? true
    let probes = ProbesReader(problems: problems, backends: byName, areListed: fields?["backends"] != nil)
    let sources = TargetSourcesReader(
      problems: problems, defaults: defaults, labelLimit: metrics.maxLabels, probes: probes, folder: folder
    ).read(fields?["targets_from"])
    var targets = TargetsReader(
      problems: problems, defaults: defaults, labelLimit: metrics.maxLabels, probes: probes,
      hasSources: fields?["targets_from"] != nil)
    let web = service.web(fields?["web"])
    let watch = fields?["watch"].flatMap { ValueReader(problems: problems).boolean($0, "watch") }
    return Configuration(
      backends: backends.map { ConfiguredBackend(name: $0.name, timeout: $0.timeout, options: $0.shared) },
      pluginPath: fields?["plugin_path"].flatMap { ValueReader(problems: problems).texts($0, "plugin_path") },
      defaults: defaults,
      targets: isFile ? targets.read(fields?["targets"], in: root?.position ?? .start) : [],
      sources: sources,
      listen: web.listen,
      isReloadAllowed: web.isReloadAllowed,
      isWatched: watch ?? false,
      webConfig: service.webConfig(fields?["web"]),
      wwanInterfaces: service.wwanInterfaces(fields?["wwan_interfaces"]),
      defaultPath: service.defaultPath(fields?["default_path"]),
      log: service.log(fields?["log"]),
      stateDirectory: service.stateDirectory(fields?["state_dir"]),
      metrics: metrics,
      probing: fields.map { ModulesReader(problems: problems, backends: byName).read($0) } ?? ProbeSettings())
  }

  private func readDefaults(_ node: YAMLNode?) -> TargetPolicy {
    guard let node else { return TargetPolicy() }
    let fields = Fields(node, in: "defaults", known: PolicyReader.keys, problems: problems)
    return PolicyReader(problems: problems).read(fields, over: TargetPolicy())
  }
}
