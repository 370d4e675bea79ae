public import ReachConfig
internal import ReachCore
internal import ReachIO

extension ModuleProbe {
  /// Runs a module that asks the target, as a name server, for something.
  public func run(_ module: DNSModule, into metrics: inout ProbeMetrics) async -> Outcome {
    metrics.set(.dnsDuration, 0, [Label(name: "phase", value: "resolve")])
    var outcome = DNSQueryOutcome()
    outcome.record(into: &metrics)
    do throws(ProbeStop) {
      let port = target.port ?? (module.usesTLS ? 853 : 53)
      let resolved = try await resolve(module.addressing, port: port, into: &metrics)
      metrics.set(.dnsDuration, resolved.lookup.inSeconds, [Label(name: "phase", value: "resolve")])
      let dial = Dial(
        peer: resolved.address, addressing: module.addressing, target: target, host: host, deadline: deadline)
      outcome = await DNSQuery(module: module, dial: dial, probe: self).run()
      outcome.record(into: &metrics)
      if let fault = outcome.fault { return .fault(fault) }
      return outcome.succeeded ? .success : .failure
    } catch {
      return error.outcome
    }
  }
}
