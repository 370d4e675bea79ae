internal import ReachIO
internal import ReachMetrics
internal import ReachPluginHost

extension AgentSeries {
  /// The series of an agent that begins by this configuration now.
  init(of preparation: Preparation) {
    self.init(
      version: BuildInformation.version, revision: BuildInformation.revision, swiftVersion: BuildInformation.swift)
    show(preparation.plugins)
    isLastReloadSuccessful = true
    lastReloadSuccess = WallClock.nanosecondsSinceEpoch()
  }

  /// Shows the backends that are loaded among these.
  mutating func show(_ results: [PluginResult]) {
    plugins = results.compactMap(\.plugin).map { (plugin: $0.name, version: $0.version) }
  }
}
