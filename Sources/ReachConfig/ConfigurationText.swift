internal import ReachCore
public import ReachProbe

/// A configuration as a YAML file: every default filled in, and loading to the same configuration again.
///
/// It is written piece by piece, so that ten thousand targets need not be in memory as text. No option of a backend
/// holds a secret; one that did would have to be masked here, as the queries of URLs are.
public struct ConfigurationText {
  private static let targetsPerPiece = 64

  private let configuration: Configuration
  private let declared: [String: [ProbeOption]]
  private let backends: [String: ConfiguredBackend]
  private var position = 0
  /// What most targets share with the one before: written once, and then copied.
  private var lastPolicy: (policy: TargetPolicy, text: [UInt8])?
  private var lastProbes: (probes: [ConfiguredProbe], round: Duration, text: [UInt8])?
  private var isBegun = false

  /// The text of a configuration. `optionsOf` tells what a backend declares, as when the file was read.
  public init(_ configuration: Configuration, optionsOf: (String) -> [ProbeOption]?) {
    self.configuration = configuration
    declared = configuration.backends.reduce(into: [:]) { $0[$1.name] = optionsOf($1.name) }
    backends = configuration.backends.reduce(into: [:]) { $0[$1.name] = $1 }
  }

  /// Appends the next piece. Returns false, with nothing appended, when there is no more.
  public mutating func next(into bytes: inout [UInt8]) -> Bool {
    var yaml = YAMLWriter(appendingTo: bytes)
    bytes = []
    defer { bytes = yaml.bytes }
    if !isBegun {
      isBegun = true
      writeService(&yaml)
      writeBackends(&yaml)
      yaml.line("defaults:")
      write(configuration.defaults.capped, to: &yaml, level: 1)
      writeSources(configuration.sources, to: &yaml)
      if configuration.targets.isEmpty { yaml.entry("targets", "[]") } else { yaml.line("targets:") }
      return true
    }
    let end = min(configuration.targets.count, position + Self.targetsPerPiece)
    guard position < end else { return false }
    for target in configuration.targets[position..<end] { write(target, to: &yaml) }
    position = end
    return true
  }

  // MARK: The agent

  private func writeService(_ yaml: inout YAMLWriter) {
    yaml.line("web:")
    yaml.entry("listen", YAMLWriter.list(configuration.listen.map { YAMLWriter.scalar("\($0)") }), level: 1)
    if let file = configuration.webConfig { yaml.entry("config", YAMLWriter.scalar(file), level: 1) }
    if let isAllowed = configuration.isReloadAllowed { yaml.entry("reload", "\(isAllowed)", level: 1) }
    yaml.entry("watch", "\(configuration.isWatched)")
    let log = configuration.log
    var entries = [("level", log.level.rawValue)]
    if let format = log.format { entries.append(("format", format.rawValue)) }
    let output =
      switch log.output {
      case .standardError: "stderr"
      case .standardOutput: "stdout"
      case .file(let path): YAMLWriter.scalar(path)
      }
    yaml.entry("log", YAMLWriter.map(entries + [("output", output)]))
    let metrics = configuration.metrics
    yaml.entry(
      "metrics", YAMLWriter.map([("detail", metrics.detail.rawValue), ("max_labels", "\(metrics.maxLabels)")]))
    yaml.entry("wwan_interfaces", YAMLWriter.list(configuration.wwanInterfaces.map(YAMLWriter.scalar)))
    yaml.entry("default_path", YAMLWriter.list(configuration.defaultPath.map { YAMLWriter.scalar("\($0)") }))
    if let folder = configuration.stateDirectory { yaml.entry("state_dir", YAMLWriter.scalar(folder)) }
    writeProbing(&yaml)
  }

  private func writeProbing(_ yaml: inout YAMLWriter) {
    let probing = configuration.probing
    if !probing.modules.isEmpty {
      yaml.line("modules:")
      for module in probing.modules {
        ModuleText(module) { options($0.options, of: $0.backend, timeout: nil) }.write(to: &yaml, level: 1)
      }
    }
    if let name = probing.defaultModule { yaml.entry("default_module", YAMLWriter.scalar(name)) }
    if !probing.allow.isEmpty {
      yaml.entry("probe_allow", YAMLWriter.list(probing.allow.map { YAMLWriter.scalar("\($0)") }))
    }
  }

  private func writeBackends(_ yaml: inout YAMLWriter) {
    if let path = configuration.pluginPath {
      yaml.entry("plugin_path", YAMLWriter.list(path.map(YAMLWriter.scalar)))
    }
    if configuration.backends.isEmpty { return yaml.entry("backends", "{}") }
    yaml.line("backends:")
    for backend in configuration.backends {
      let options = options(backend.options, of: backend.name, timeout: backend.timeout)
      yaml.entry(YAMLWriter.scalar(backend.name), YAMLWriter.map(options), level: 1)
    }
  }

  private func options(
    _ values: OptionValues, of backend: String, timeout: Duration?
  ) -> [(key: String, value: String)] {
    var entries: [(key: String, value: String)] = []
    if let timeout { entries.append(("timeout", YAMLWriter.duration(timeout))) }
    return entries + Self.options(values, declared: declared[backend] ?? [])
  }

  /// The options that are declared, as keys and YAML.
  static func options(_ values: OptionValues, declared: [ProbeOption]) -> [(key: String, value: String)] {
    declared.compactMap { option in
      guard option.name != "timeout", let value = values[option.name] else { return nil }
      return (option.name, text(value))
    }
  }

  private static func text(_ value: OptionValue) -> String {
    switch value {
    case .string(let text): YAMLWriter.scalar(text)
    case .integer(let number): "\(number)"
    case .boolean(let isTrue): "\(isTrue)"
    case .duration(let duration): YAMLWriter.duration(duration)
    case .endpoint(let endpoint): YAMLWriter.scalar(text(endpoint))
    case .endpoints(let endpoints): YAMLWriter.list(endpoints.map { YAMLWriter.scalar(text($0)) })
    }
  }

  /// An address, in brackets where its end could be taken for a port.
  private static func text(_ address: IPAddress) -> String {
    YAMLWriter.scalar(address.family == .ipv6 ? "[\(address)]" : "\(address)")
  }

  static func text(_ endpoint: OptionEndpoint) -> String {
    let address = endpoint.address.family == .ipv6 ? "[\(endpoint.address)]" : "\(endpoint.address)"
    return endpoint.port.map { "\(address):\($0)" } ?? address
  }

  // MARK: Targets

  private mutating func write(_ configured: ConfiguredTarget, to yaml: inout YAMLWriter) {
    let target = configured.target
    yaml.entry("- name", YAMLWriter.scalar(target.name), level: 1)
    switch target.kind {
    case .host(let host): yaml.entry("host", YAMLWriter.scalar(host.query), level: 2)
    case .address(let address): yaml.entry("address", Self.text(address), level: 2)
    case .pair(let local, let remote):
      let ends = [("local", Self.text(local)), ("remote", Self.text(remote))]
      yaml.entry("pair", YAMLWriter.map(ends), level: 2)
    case .defaultPath: yaml.entry("default", "true", level: 2)
    case .linkLocal(let interface): yaml.entry("link_local", YAMLWriter.scalar(interface), level: 2)
    case .interface(let interface): yaml.entry("interface", YAMLWriter.scalar(interface), level: 2)
    }
    if let port = target.port { yaml.entry("port", "\(port)", level: 2) }
    yaml.append(text(of: target.policy))
    if !target.labels.isEmpty {
      let labels = target.labels.map { (key: $0.name, value: YAMLWriter.scalar($0.value)) }
      yaml.entry("labels", YAMLWriter.map(labels), level: 2)
    }
    write(target.source, to: &yaml)
    yaml.append(text(of: configured.probes, within: target.policy.timeout))
  }

  private mutating func text(of policy: TargetPolicy) -> [UInt8] {
    if let lastPolicy, lastPolicy.policy == policy { return lastPolicy.text }
    var yaml = YAMLWriter(appendingTo: [])
    write(policy, to: &yaml, level: 2)
    lastPolicy = (policy, yaml.bytes)
    return yaml.bytes
  }

  private mutating func text(of probes: [ConfiguredProbe], within round: Duration) -> [UInt8] {
    if let lastProbes, lastProbes.probes == probes, lastProbes.round == round { return lastProbes.text }
    var yaml = YAMLWriter(appendingTo: [])
    if !probes.isEmpty { yaml.line("probes:", level: 2) }
    for probe in probes { write(probe, within: round, to: &yaml) }
    lastProbes = (probes, round, yaml.bytes)
    return yaml.bytes
  }

  func write(_ policy: TargetPolicy, to yaml: inout YAMLWriter, level: Int) {
    yaml.entry("interval", YAMLWriter.duration(policy.interval), level: level)
    yaml.entry("timeout", YAMLWriter.duration(policy.timeout), level: level)
    yaml.entry("fall", "\(policy.fall)", level: level)
    yaml.entry("rise", "\(policy.rise)", level: level)
    yaml.entry("status_rule", policy.statusRule.rawValue, level: level)
    yaml.entry("tcp_policy", policy.tcp.rawValue, level: level)
    yaml.entry("address_policy", policy.addresses.rawValue, level: level)
    yaml.entry("unknown_after", "\(policy.unknownAfter)", level: level)
    yaml.entry("hold", YAMLWriter.duration(policy.hold), level: level)
    yaml.entry("search", "\(policy.search)", level: level)
    let kept = [("min", YAMLWriter.duration(policy.resolveMin)), ("max", YAMLWriter.duration(policy.resolveMax))]
    yaml.entry("resolve", YAMLWriter.map(kept), level: level)
  }

  private func write(_ source: SourceBinding, to yaml: inout YAMLWriter) {
    var entries: [(key: String, value: String)] = []
    if let interface = source.interface { entries.append(("interface", YAMLWriter.scalar(interface))) }
    if let address = source.address { entries.append(("address", Self.text(address))) }
    if let mark = source.mark { entries.append(("mark", "0x" + String(mark, radix: 16))) }
    if !entries.isEmpty { yaml.entry("source", YAMLWriter.map(entries), level: 2) }
  }

  func write(_ probe: ConfiguredProbe, within round: Duration, to yaml: inout YAMLWriter, level: Int = 3) {
    // A probe without a limit of its own under a backend that has one was given the whole round.
    let inherited = backends[probe.backend]?.timeout
    let timeout = probe.timeout ?? (inherited.map { $0 < round } ?? false ? round : nil)
    let options = options(probe.options, of: probe.backend, timeout: timeout)
    let name = YAMLWriter.scalar(probe.backend)
    yaml.line(options.isEmpty ? "- \(name)" : "- \(name): \(YAMLWriter.map(options))", level: level)
  }
}
