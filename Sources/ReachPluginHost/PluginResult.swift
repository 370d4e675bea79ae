public import ReachCore
public import ReachProbe

/// What came of looking for one plugin.
public enum PluginResult: Sendable {
  /// It is loaded, and stays so: libraries are never unloaded.
  case loaded(LoadedPlugin)
  /// It was refused, or is not there.
  case rejected(RejectedPlugin)

  /// The backend's name, as it was asked for or as the file's name gives it.
  public var name: String {
    switch self {
    case .loaded(let plugin): plugin.name
    case .rejected(let plugin): plugin.name
    }
  }

  /// The plugin, if it is loaded.
  public var plugin: LoadedPlugin? { if case .loaded(let plugin) = self { plugin } else { nil } }
  /// What was refused, if it was.
  public var rejection: RejectedPlugin? { if case .rejected(let plugin) = self { plugin } else { nil } }
}

/// A plugin that has passed every check.
public struct LoadedPlugin: Sendable {
  /// The backend's name, such as `tcp`.
  public var name: String { registration.name }
  /// The layer it looks at.
  public var layer: Layer { registration.layer }
  /// The plugin's own version.
  public var version: String { registration.version }
  /// The file it was loaded from, as it was found.
  public let file: String
  /// What it registers.
  public let registration: Registration
}

/// A plugin that is not used, and why.
public struct RejectedPlugin: Error, Hashable, Sendable, CustomStringConvertible {
  /// The backend's name.
  public let name: String
  /// The file; nil when there is none.
  public let file: String?
  /// What is wrong and what to do about it, in one line.
  public let reason: String

  /// For people: the file, or the name, and the reason.
  public var description: String { "\(file ?? name): \(reason)" }
}

extension PluginResult {
  /// Whether the same came of looking for the same plugin.
  public func isSame(as other: PluginResult) -> Bool {
    name == other.name && plugin?.file == other.plugin?.file && rejection == other.rejection
  }
}
