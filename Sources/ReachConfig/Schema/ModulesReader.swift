internal import ReachProbe

/// Reads `modules:`, `default_module:` and `probe_allow:`.
struct ModulesReader {
  static let keys = ["modules", "default_module", "probe_allow"]

  let problems: ProblemList
  let backends: [String: BackendDefaults]
  private var reader: ValueReader { ValueReader(problems: problems) }

  init(problems: ProblemList, backends: [String: BackendDefaults]) {
    self.problems = problems
    self.backends = backends
  }

  /// What the file says of `/probe`.
  func read(_ fields: Fields) -> ProbeSettings {
    var settings = ProbeSettings()
    var names: [String] = []
    if let node = fields["modules"], !node.isEmpty {
      let modules = Fields(node, in: "'modules'", known: [], problems: problems)
      names = modules.keys
      settings.modules = names.compactMap { name in
        modules[name].flatMap { module(name, $0, at: modules.position(of: name)) }
      }
    }
    if let node = fields["default_module"], let name = reader.text(node, "default_module") {
      settings.defaultModule = name
      if !names.contains(name) {
        let hint = closest(to: name, among: names).map { "; did you mean '\($0)'?" } ?? "; name one of them"
        problems.error("default_module: \(quoted(name)) is not under 'modules'\(hint)", at: node.position)
      }
    }
    if let node = fields["probe_allow"], let nodes = reader.list(node, "probe_allow") {
      settings.allow = nodes.compactMap { node in
        reader.value(node, "probe_allow") { text throws(ValueError) in try AllowRule(parsing: text) }
      }
    }
    return settings
  }

  private func module(_ name: String, _ node: YAMLNode, at position: TextPosition) -> ConfiguredModule? {
    let section = "the module \(quoted(name))"
    if name.isEmpty { problems.error("a module's name is empty; write one", at: position) }
    let quiet = ProblemList(file: "")
    guard node.kind == .mapping, let kind = Fields(node, in: section, known: [], problems: quiet)["backend"] else {
      let isForeign = node.entries.contains { $0.key.text == "prober" }
      let remedy =
        isForeign
        ? "translate the file with 'reachd check --blackbox FILE'" : "write one such as { backend: tcp, timeout: 5s }"
      problems.error("\(section) has no 'backend'; \(remedy)", at: position)
      return nil
    }
    guard let backend = reader.text(kind, "backend") else { return nil }
    switch backend {
    case "tcp":
      let known = ["backend", "timeout"] + TCPModuleReader.keys
      let fields = Fields(node, in: section, known: known, problems: problems)
      return ConfiguredModule(
        name: name, timeout: timeout(fields), kind: .tcp(TCPModuleReader(problems: problems).read(fields)))
    case "dns":
      let known = ["backend", "timeout"] + DNSModuleReader.keys
      let fields = Fields(node, in: section, known: known, problems: problems)
      return DNSModuleReader(problems: problems).read(fields, at: position).map {
        ConfiguredModule(name: name, timeout: timeout(fields), kind: .dns($0))
      }
    default: return round(name, backend, node, at: kind.position)
    }
  }

  private func timeout(_ fields: Fields) -> Duration? { fields["timeout"].flatMap { reader.duration($0, "timeout") } }

  /// A module that runs a round of a backend.
  private func round(
    _ name: String, _ backend: String, _ node: YAMLNode, at position: TextPosition
  ) -> ConfiguredModule? {
    guard let defaults = backends[backend] else {
      let known = ["tcp", "dns"] + backends.keys.sorted()
      let hint = closest(to: backend, among: known).map { "did you mean '\($0)'?" } ?? "add it there"
      problems.error("backend: \(quoted(backend)) is not under 'backends'; \(hint)", at: position)
      return nil
    }
    let written = OptionReader(problems: problems).read(
      node, of: backend, declared: defaults.declared, besides: ["backend"])
    let options = OptionValues(defaults.values.merging(written.values) { $1 })
    let probe = ConfiguredProbe(backend: backend, options: options, timeout: nil)
    return ConfiguredModule(name: name, timeout: written.timeout ?? defaults.timeout, kind: .round(probe))
  }
}
