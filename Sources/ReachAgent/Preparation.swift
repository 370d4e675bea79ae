internal import Glibc
public import ReachConfig
public import ReachPluginHost
internal import ReachProbe

/// A configuration that has been read, with the plugins it names: all that is known before anything runs.
public struct Preparation: Sendable {
  /// The configuration file's path, or what stands for one.
  public let file: String
  /// What came of each backend that is named.
  public let plugins: [PluginResult]
  /// The configuration; nil when it has errors.
  public let configuration: Configuration?
  /// Every problem, in the order of the file.
  public let problems: [ConfigurationProblem]
  /// What the file of `web.config` comes to; nil when none is named, or it has not been read.
  let web: WebPolicy?

  /// Tells one content of the file from another.
  let contentHash: Int
  /// Whether there is nothing in the file.
  let isEmpty: Bool

  /// Where the configuration is when nobody says.
  public static let defaultFile = "/etc/reachd/reachd.yaml"

  /// Reads a file and loads the plugins it names. Throws when the file cannot be read.
  public static func load(file: String) throws(ConfigurationFileError) -> Preparation {
    try load(file: file, keeping: [])
  }

  /// The same for a process that has plugins loaded: these are kept as they are, since none is ever unloaded.
  static func load(file: String, keeping plugins: [PluginResult]) throws(ConfigurationFileError) -> Preparation {
    Preparation(try ConfigurationDocument(readingFile: file), keeping: plugins)
  }

  /// The configuration that holds where there is none: the standard backends with their defaults, and no targets.
  public static func defaults() -> Preparation {
    Preparation(ConfigurationDocument(parsing: [], file: "defaults"))
  }

  private init(_ document: ConfigurationDocument, keeping kept: [PluginResult] = []) {
    let loaded = kept.reduce(into: [String: PluginResult]()) { if $1.plugin != nil { $0[$1.name] = $1 } }
    let path = document.pluginPath ?? PluginHost.defaultSearchPath
    let plugins = document.backendNames.flatMap { name in
      loaded[name].map { [$0] } ?? PluginHost.load([name], searchPath: path)
    }
    let options = plugins.reduce(into: [String: [ProbeOption]]()) { $0[$1.name] = $1.plugin?.registration.options }
    let result = document.resolve { options[$0] }
    file = document.file
    contentHash = document.contentHash
    isEmpty = document.isEmpty
    self.plugins = plugins
    configuration = result.configuration
    problems = result.problems
    web = nil
  }

  private init(_ preparation: Preparation, _ web: WebPolicy) {
    file = preparation.file
    contentHash = preparation.contentHash
    isEmpty = preparation.isEmpty
    plugins = preparation.plugins
    configuration = web.policy == nil ? nil : preparation.configuration
    problems = preparation.problems + web.problems
    self.web = web
  }

  /// The same with the file of `web.config` read, which only who serves can do: it names a key.
  public func readingWebConfig() -> Preparation {
    guard let file = configuration?.webConfig else { return self }
    return Preparation(self, WebPolicy(readingFile: file))
  }

  /// Why each backend that is named is not there.
  public var rejections: [RejectedPlugin] { plugins.compactMap(\.rejection) }
}

extension Preparation {
  /// Where the configuration is when nobody says, if there is a file.
  public static var existingDefaultFile: String? { unsafe access(defaultFile, F_OK) == 0 ? defaultFile : nil }
}
