public import ReachConfig

extension ModuleProbe {
  /// Runs a module that asks a name server.
  public func run(_ module: DNSModule, into metrics: inout ProbeMetrics) async -> Outcome {
    log.note(.error, "Modules with the backend dns cannot be run yet")
    return .failure
  }
}
