internal import ReachConfig
internal import ReachCore
internal import ReachHTTP
internal import ReachMetrics
internal import ReachPluginHost
internal import ReachProbe

/// What of the configuration that holds is needed after it has been put in force.
struct InForce {
  /// What came of each backend that is named.
  var plugins: [PluginResult]
  /// The backends that targets use.
  var pool: BackendPool
  /// The effective configuration; nil when there was no memory to keep it.
  var text: KeptText?
  /// Who may have the configuration read again; nil: who comes from this host.
  var isReloadAllowed: Bool?
  /// Whether the file is read again when it changes.
  var isWatched: Bool
  /// Where the log goes, and how.
  var log: LogSettings
  /// How much is told of each target.
  var detail: MetricsDetail
  /// Where state has been kept since the start.
  let stateDirectory: String?
  /// Set once there are names to resolve.
  var resolverFiles: ResolverFiles?
  /// Targets that are declared no more, until it is known whether they are discovered.
  var leaving: [String: WatchedTarget] = [:]
  /// The watch over the configuration file, while there is one.
  var fileWatch: Int?

  init(_ configuration: Configuration, _ plugins: [PluginResult], _ text: KeptText?, _ host: ProbeHost) {
    self.plugins = plugins
    pool = BackendPool(plugins, host: host)
    self.text = text
    isReloadAllowed = configuration.isReloadAllowed
    isWatched = configuration.isWatched
    log = configuration.log
    detail = MetricsDetail(configuration.metrics.detail)
    stateDirectory = configuration.stateDirectory
  }

  /// Takes over another configuration. State goes on being kept where it was.
  mutating func renew(
    _ configuration: Configuration, _ plugins: [PluginResult], _ pool: BackendPool, _ text: KeptText?
  ) {
    self.plugins = plugins
    self.pool = pool
    self.text = text
    isReloadAllowed = configuration.isReloadAllowed
    isWatched = configuration.isWatched
    log = configuration.log
    detail = MetricsDetail(configuration.metrics.detail)
  }

  /// Whether a request that came in by that address may have the configuration read again.
  func isReloadAllowed(by listener: ReachHTTP.ListenAddress) -> Bool { isReloadAllowed ?? listener.isLocal }
}

extension MetricsDetail {
  /// The detail that the configuration names.
  init(_ detail: MetricsSettings.Detail) {
    switch detail {
    case .compact: self = .compact
    case .standard: self = .standard
    case .full: self = .full
    }
  }
}
