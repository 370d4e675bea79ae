public import ReachProbe

/// A configuration file that has been read and not yet understood: enough of it to find the plugins, whose options
/// must be known before the rest can be checked.
public struct ConfigurationDocument: Sendable {
  /// The file as the user named it, for messages.
  public let file: String
  /// The folders to look for plugins in; nil when the file does not say, or not rightly.
  public let pluginPath: [String]?
  /// The backends to load, in the order of the file; those of every agent when it does not say.
  public let backendNames: [String]

  /// Tells one content of the file from another, within this process.
  public let contentHash: Int
  /// Whether the file is empty, as one is that is being written just now.
  public let isEmpty: Bool

  /// Where state is kept; nil when the file does not say, or not rightly.
  public let stateDirectory: String?
  /// Where the agent's pages are served, as far as the file says that rightly; the default where it does not.
  public let listen: [ListenAddress]
  /// The file of `web.config`; nil when the file does not say, or not rightly.
  public let webConfig: String?

  /// The backends that are loaded when the file has no `backends:`.
  public static let standardBackends = ["link", "route", "dns", "tcp"]

  private let tree: YAMLTree?
  private let problems: [ConfigurationProblem]

  /// Reads the bytes of a file. Never fails: what is wrong comes out of `resolve`.
  ///
  /// Takes memory and time in proportion to the bytes, whatever they are; more than 16 MiB are refused.
  public init(parsing bytes: [UInt8], file: String) {
    let problems = ProblemList(file: file)
    var tree: YAMLTree?
    do throws(YAMLText.Refusal) {
      tree = YAMLComposer.compose(try YAMLText(bytes), problems: problems)
    } catch {
      problems.error(error.message, at: error.position)
    }
    self.file = file
    contentHash = bytes.hashValue
    isEmpty = bytes.isEmpty
    self.tree = tree
    self.problems = problems.sorted
    // Read here without a word: `resolve` reads them again and complains.
    let quiet = ProblemList(file: file)
    let fields = tree.map { Fields($0.root, in: "the file", known: [], problems: quiet) }
    let reader = ValueReader(problems: quiet)
    pluginPath = fields?["plugin_path"].flatMap { reader.texts($0, "plugin_path") }
    let service = ServiceReader(problems: quiet)
    stateDirectory = service.stateDirectory(fields?["state_dir"])
    listen = service.web(fields?["web"]).listen
    webConfig = service.webConfig(fields?["web"])
    backendNames = fields?["backends"].map { BackendsReader.names($0) } ?? Self.standardBackends
  }

  /// What keeps the file from being understood at all; nil when the keys above could be looked for.
  public var unreadable: ConfigurationProblem? {
    tree == nil ? problems.first { $0.severity == .error } : nil
  }

  /// Checks everything and fills in the defaults. `optionsOf` is asked once for each backend, and answers nil for one
  /// that is not there, whose options are then left unchecked.
  public func resolve(optionsOf: (String) -> [ProbeOption]?) -> ConfigurationResult {
    let list = ProblemList(file: file, adding: problems)
    let isReadable = !problems.contains { $0.severity == .error } || tree != nil
    var configuration: Configuration?
    if isReadable {
      configuration = ConfigurationReader(problems: list, folder: FilePath.folder(of: file)).read(
        tree?.root, optionsOf: optionsOf)
    }
    let sorted = list.sorted
    let hasErrors = sorted.contains { $0.severity == .error }
    return ConfigurationResult(configuration: hasErrors ? nil : configuration, problems: sorted)
  }
}

/// What a file comes to.
public struct ConfigurationResult: Hashable, Sendable {
  /// The configuration; nil when there is an error among the problems.
  public let configuration: Configuration?
  /// Every problem, in the order of the file.
  public let problems: [ConfigurationProblem]
}
