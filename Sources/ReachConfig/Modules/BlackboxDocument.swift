/// A configuration of blackbox_exporter, translated into `modules:`.
public struct BlackboxDocument {
  /// What a file comes to.
  public struct Translation: Hashable, Sendable {
    /// The modules that could be translated, in the order of the file.
    public let modules: [ConfiguredModule]
    /// What is wrong, or cannot be translated, in the order of the file.
    public let problems: [ConfigurationProblem]

    /// The modules as a part of reachd's configuration.
    public var yaml: String { ModuleText.text(of: modules) }
    /// Whether all of the file was translated.
    public var isComplete: Bool { !problems.contains { $0.severity == .error } }
  }

  private static let probers = ["http", "tcp", "icmp", "dns", "grpc", "unix", "websocket"]

  private let problems: ProblemList
  private var reader: ValueReader { ValueReader(problems: problems) }

  /// Translates the bytes of a file, whose name is for messages. Never fails: the problems say what is missing.
  public static func translate(_ bytes: [UInt8], file: String) -> Translation {
    let document = BlackboxDocument(problems: ProblemList(file: file))
    let modules = document.modules(bytes)
    return Translation(modules: modules, problems: document.problems.sorted)
  }

  private func modules(_ bytes: [UInt8]) -> [ConfiguredModule] {
    let tree: YAMLTree?
    do throws(YAMLText.Refusal) {
      tree = YAMLComposer.compose(try YAMLText(bytes), problems: problems)
    } catch {
      problems.error(error.message, at: error.position)
      return []
    }
    guard let tree else { return [] }
    let fields = Fields(tree.root, in: "the file", known: ["modules"], problems: problems)
    guard let node = fields["modules"] else {
      if fields.isMap { problems.error("there is no 'modules' in the file", at: tree.root.position) }
      return []
    }
    let modules = Fields(node, in: "'modules'", known: [], problems: problems)
    return modules.keys.compactMap { name in
      let before = problems.errorCount
      let translated = modules[name].flatMap { module(name, $0, at: modules.position(of: name)) }
      // A part of a module would find good what the whole of it does not.
      return problems.errorCount == before ? translated : nil
    }
  }

  private func module(_ name: String, _ node: YAMLNode, at position: TextPosition) -> ConfiguredModule? {
    let section = "the module \(quoted(name))"
    let fields = Fields(node, in: section, known: ["prober", "timeout"] + Self.probers, problems: problems)
    guard let kind = fields["prober"] else {
      problems.error("\(section) has no 'prober'", at: position)
      return nil
    }
    guard let prober = reader.word(kind, "prober", among: Self.probers) else { return nil }
    for other in Self.probers where other != prober && fields[other] != nil {
      problems.warning(
        "\(section) has the prober '\(prober)', which has no use for this; it is left out",
        at: fields.position(of: other))
    }
    let timeout = fields["timeout"].flatMap { reader.duration($0, "timeout", allowingZero: true) }
      .flatMap { $0 == .zero ? nil : $0 }
    switch prober {
    case "tcp":
      let settings = self.fields(of: "tcp", fields, known: TCPModuleReader.keys)
      let module = settings.map { TCPModuleReader(problems: problems).read($0) } ?? TCPModule()
      return ConfiguredModule(name: name, timeout: timeout, kind: .tcp(module))
    case "dns":
      guard let settings = self.fields(of: "dns", fields, known: DNSModuleReader.keys) else {
        problems.error("\(section) has no 'dns' with a 'query_name'", at: position)
        return nil
      }
      let module = DNSModuleReader(problems: problems).read(settings, at: settings.position)
      return module.map { ConfiguredModule(name: name, timeout: timeout, kind: .dns($0)) }
    default:
      problems.error(
        "\(section) has the prober '\(prober)', which reachd does not have; keep it with blackbox_exporter",
        at: kind.position)
      return nil
    }
  }

  /// The fields of a prober's own section; nil when there is none.
  private func fields(of prober: String, _ fields: Fields, known: [String]) -> Fields? {
    guard let node = fields[prober], !node.isEmpty else { return nil }
    return Fields(node, in: "'\(prober)'", known: known, problems: problems)
  }
}
