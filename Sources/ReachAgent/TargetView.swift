public import ReachCore

/// One target as it stands, for the API, the page and `reachd probe --json`.
public struct TargetView: Sendable {
  /// The newest run of one probe.
  public struct LastRun: Hashable, Sendable {
    /// What it came to.
    public var run: ProbeRun
    /// When it ended, in nanoseconds since 1970 UTC.
    public var at: Int64
    /// A run and its end.
    public init(run: ProbeRun, at: Int64) {
      self.run = run
      self.at = at
    }
  }

  /// The target as configured.
  public let target: Target
  /// Its published state.
  public let state: TargetState
  /// The newest run of each probe that has run, in the order they run.
  public let runs: [LastRun]

  /// A view.
  public init(target: Target, state: TargetState, runs: [LastRun]) {
    self.target = target
    self.state = state
    self.runs = runs
  }

  /// Appends the JSON object that the interface documents for a target.
  public func write(to json: inout JSONWriter) {
    let verdict = state.verdict
    json.beginObject()
    json.member("target", target.name)
    json.member("kind", target.kindName)
    json.member("status", verdict.status.rawValue)
    json.member("flags", verdict.flags?.description)
    json.key("flags_value")
    if let flags = verdict.flags { json.value(flags.rawValue) } else { json.null() }
    json.member("layer", verdict.reason.layer.rawValue)
    json.member("reason", verdict.reason.description)
    json.key("stale")
    json.value(state.isStale)
    json.member("since", state.since.map { Timestamp(nanosecondsSinceEpoch: $0).description })
    json.key("path")
    write(verdict.path, to: &json)
    json.key("addresses")
    json.beginArray()
    for address in verdict.addresses { write(address, to: &json) }
    json.endArray()
    json.key("probes")
    json.beginObject()
    for last in runs { write(last, to: &json) }
    json.endObject()
    json.endObject()
  }

  private func write(_ path: ReachabilityPath, to json: inout JSONWriter) {
    json.beginObject()
    json.member("interface", path.interface)
    json.member("medium", path.medium?.rawValue ?? "")
    json.member("gateway", path.gateway?.description ?? "")
    json.member("source", path.source?.description ?? "")
    json.member("address", path.address?.description ?? "")
    json.endObject()
  }

  private func write(_ address: AddressVerdict, to json: inout JSONWriter) {
    json.beginObject()
    json.member("address", address.address.description)
    json.member("family", address.address.family.rawValue)
    json.member("state", address.state.rawValue)
    json.member("reason", address.reason.description)
    json.endObject()
  }

  private func write(_ last: LastRun, to json: inout JSONWriter) {
    json.key(last.run.probe)
    json.beginObject()
    json.member("outcome", last.run.outcome.name)
    json.member("reason", last.run.outcome.reason?.description)
    if let detail = last.run.detail { json.member("detail", detail.description) }
    json.key("duration_seconds")
    if let duration = last.run.duration { json.value(duration.inSeconds) } else { json.null() }
    json.member("at", Timestamp(nanosecondsSinceEpoch: last.at).description)
    json.endObject()
  }
}

extension JSONWriter {
  /// Writes a key and its text, or `null`.
  mutating func member(_ name: String, _ text: String?) {
    key(name)
    value(text)
  }
}
