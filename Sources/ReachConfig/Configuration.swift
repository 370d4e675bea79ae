public import ReachCore
public import ReachProbe

/// A configuration without errors, with every default filled in.
///
/// Equal parts of targets share their storage, so that ten thousand targets stay small.
public struct Configuration: Hashable, Sendable {
  /// The backends to load, in the order of the file.
  public var backends: [ConfiguredBackend]
  /// The folders to look for plugins in; nil: beside the executable.
  public var pluginPath: [String]?
  /// What a target has that says nothing else. Its timeout may be above its interval, which a target's never is.
  public var defaults: TargetPolicy
  /// The targets, in the order of the file; each name is there once.
  public var targets: [ConfiguredTarget]
  /// Where more targets come from, in the order of the file; each name is there once.
  public var sources: [TargetSource]
  /// Where the pages are served. Empty when the file says so.
  public var listen: [ListenAddress]
  /// Whether a request may have the file read again (`web.reload`); nil: those may that come from this host alone.
  public var isReloadAllowed: Bool?
  /// Whether the file is read again when it changes (`watch`).
  public var isWatched: Bool
  /// The file that says who may ask, and how: see `WebConfiguration`; nil: everybody, without TLS.
  public var webConfig: String?
  /// Names, or globs (glob(7)), of interfaces that count as cellular.
  public var wwanInterfaces: [String]
  /// The addresses that stand for the two halves of the IPv4 space; at least one in each. Nothing is sent to them.
  public var defaultPath: [IPAddress]
  /// Where the log goes, and how.
  public var log: LogSettings
  /// Where transitions and counters are kept, an absolute path; nil: in memory only.
  public var stateDirectory: String?
  /// How much is told of each target.
  public var metrics: MetricsSettings
  /// What `/probe` may be asked for, and how it then probes.
  public var probing: ProbeSettings
}

/// A probe backend to load.
public struct ConfiguredBackend: Hashable, Sendable {
  /// Its name, such as `tcp`.
  public var name: String
  /// How long one of its runs may take; nil: as long as the round.
  public var timeout: Duration?
  /// Its options: those of the file, then the declared defaults. Empty while the plugin is not known.
  public var options: OptionValues
}

/// A target with what looks at it.
public struct ConfiguredTarget: Hashable, Sendable {
  /// What is watched, and how it is judged. Its timeout is never above its interval.
  public var target: Target
  /// Its probes, in the order of the file; each backend is there once.
  public var probes: [ConfiguredProbe]

  /// A target; nothing is checked here.
  public init(target: Target, probes: [ConfiguredProbe]) {
    self.target = target
    self.probes = probes
  }
}

/// One probe of a target.
public struct ConfiguredProbe: Hashable, Sendable {
  /// The backend's name.
  public var backend: String
  /// Its options for this target: the target's, then the backend's, then the declared defaults.
  public var options: OptionValues
  /// How long a run may take; always below the target's timeout, and nil where that alone counts.
  public var timeout: Duration?

  /// A probe; nothing is checked here.
  public init(backend: String, options: OptionValues, timeout: Duration?) {
    self.backend = backend
    self.options = options
    self.timeout = timeout
  }
}

/// Where the log goes, and how.
public struct LogSettings: Hashable, Sendable {
  /// From which level on events are logged.
  public enum Level: String, Hashable, Sendable, CaseIterable {
    /// Every probe.
    case debug
    /// Changes, and what the agent does.
    case info
    /// What somebody should look at.
    case warning
    /// What the agent cannot do.
    case error
  }

  /// How an event is written.
  public enum Format: String, Hashable, Sendable, CaseIterable {
    /// One JSON object per line.
    case json
    /// `key=value` pairs.
    case logfmt
    /// For people.
    case text
  }

  /// Where events are written to.
  public enum Output: Hashable, Sendable {
    /// Standard error.
    case standardError
    /// Standard output.
    case standardOutput
    /// The file at this absolute path, appended to.
    case file(String)
  }

  /// From which level on events are logged.
  public var level: Level = .info
  /// How they are written; nil when the file does not say.
  public var format: Format?
  /// Where they are written to.
  public var output: Output = .standardError

  /// The defaults that the interface documents.
  public init() {}
}

/// How much the metrics tell of each target.
public struct MetricsSettings: Hashable, Sendable {
  /// Which families there are.
  public enum Detail: String, Hashable, Sendable, CaseIterable {
    /// At most twelve series a target.
    case compact
    /// Everything, with histograms for the probes that use the network.
    case standard
    /// Everything, with histograms for every probe, in finer buckets.
    case full
  }

  /// Which families there are.
  public var detail: Detail = .standard
  /// How many labels of its own a target may have.
  public var maxLabels: Int = 16

  /// The defaults that the interface documents.
  public init() {}
}
