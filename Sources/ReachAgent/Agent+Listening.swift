internal import ReachConfig
internal import ReachHTTP
internal import ReachLog
internal import ReachPluginHost
internal import ReachProbe

extension Agent {
  /// Where to serve: at the addresses of the command line, else on the sockets that the service manager handed over, else
  /// as configured.
  static func addresses(
    _ configuration: Configuration, _ overrides: AgentOverrides, _ inherited: InheritedSockets, _ log: Logger
  ) -> [ReachHTTP.ListenAddress] {
    let configured = configuration.listen.map(ReachHTTP.ListenAddress.init)
    if !overrides.listen.isEmpty {
      inherited.close()
      return configured
    }
    inherited.closeForeign()
    for foreign in inherited.members where !foreign.isListening {
      let name = foreign.name.isEmpty ? "" : " (\(foreign.name))"
      log.log(
        .selfCheck(
          check: "sockets",
          problem: "the descriptor \(foreign.number)\(name) that was handed over is no listening stream socket",
          remedy: "give the socket unit ListenStream= and leave out Accept=yes"))
    }
    return inherited.addresses.isEmpty ? configured : inherited.addresses
  }
}

extension AgentOverrides {
  /// The configuration as the command line would have it.
  func applied(to configuration: Configuration) -> Configuration {
    var configuration = configuration
    if !listen.isEmpty { configuration.listen = listen }
    if let logLevel { configuration.log.level = logLevel }
    if let logFormat { configuration.log.format = logFormat }
    return configuration
  }
}

extension Configuration {
  /// The configuration's text, to be shown to whoever asks; nil when there is no memory for it.
  func kept(_ plugins: [PluginResult]) -> KeptText? {
    let options = plugins.reduce(into: [:]) { $0[$1.name] = $1.plugin?.registration.options }
    return KeptText(TextSource(text: ConfigurationText(self) { options[$0] }))
  }

  private struct TextSource: ChunkSource {
    var text: ConfigurationText
    mutating func next(into bytes: inout [UInt8]) -> Bool { text.next(into: &bytes) }
  }
}
