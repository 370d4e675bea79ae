import ReachTestSupport
import Testing

/// Follows the changes of one target's status in the log, one after another, so that none is passed over.
///
/// Isolation: on the agent's event loop.
struct StatusWatch {
  let agent: RunningAgent
  let target: String
  /// The number of the newest change that was read.
  private(set) var sequence: Double

  /// Waits for the target's first status, which should be this one.
  init(
    _ agent: RunningAgent, _ target: String, is status: String = "ReachableViaWiFi",
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    self.agent = agent
    self.target = target
    let line = try await agent.awaitLine("status_initial", target: target)
    sequence = line["sequence"]?.number ?? 0
    #expect(line["to"]?.text == status, "\(target) begins", sourceLocation: sourceLocation)
  }

  /// Waits for the very next change, which should be into this status for one of these reasons. Returns its line.
  @discardableResult
  mutating func expect(
    _ status: String, _ reasons: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> JSON {
    let next = sequence + 1
    let line = try await agent.awaitLine("status_changed", target: target) { $0["sequence"]?.number == next }
    sequence = next
    #expect(line["to"]?.text == status, "\(target), change \(Int(next))", sourceLocation: sourceLocation)
    let reason = line["reason"]?.text ?? ""
    #expect(reasons.contains(reason), "\(target), change \(Int(next))", sourceLocation: sourceLocation)
    return line
  }

  /// Waits for the very next change, which should be into NotReachable for this reason.
  @discardableResult
  mutating func expectDown(_ reason: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSON {
    try await expect("NotReachable", [reason], sourceLocation: sourceLocation)
  }

  /// Waits for the very next change, which should be into NotReachable for one of these reasons.
  @discardableResult
  mutating func expectDown(
    _ reasons: [String], sourceLocation: SourceLocation = #_sourceLocation
  ) async throws -> JSON {
    try await expect("NotReachable", reasons, sourceLocation: sourceLocation)
  }

  /// Waits for the very next change, which should be into ReachableViaWiFi for this reason.
  @discardableResult
  mutating func expectUp(_ reason: String, sourceLocation: SourceLocation = #_sourceLocation) async throws -> JSON {
    try await expect("ReachableViaWiFi", [reason], sourceLocation: sourceLocation)
  }

  /// The changes that have been logged and not read.
  var unread: [JSON] {
    agent.lines("status_changed", target: target).filter { ($0["sequence"]?.number ?? 0) > sequence }
  }
}

extension RunningAgent {
  /// Waits until the exposition meets the condition, and returns it.
  func awaitMetrics(_ what: String, where condition: (ExpositionText) -> Bool) async throws -> ExpositionText {
    try await eventually(what, on: client.loop, state: { process.errors }) {
      let metrics = try await client.metrics()
      return condition(metrics) ? metrics : nil
    }
  }

  /// Waits until a probe of the target has run so many times with that outcome.
  func awaitRuns(_ count: Double, of probe: String, _ outcome: String, target: String) async throws {
    _ = try await awaitMetrics("\(probe) of \(target) to be \(outcome) \(count) times") {
      $0.runs(of: probe, outcome, target: target) >= count
    }
  }
}

extension ExpositionText {
  /// How often a probe of the target has run with that outcome.
  func runs(of probe: String, _ outcome: String, target: String) -> Double {
    value("reachability_probe_runs_total", ["target": target, "probe": probe, "outcome": outcome]) ?? 0
  }

  /// How often the target's status has changed into that one.
  func transitions(of target: String, to status: String) -> Double? {
    value("reachability_transitions_total", ["target": target, "to": status])
  }
}

extension RunningAgent {
  /// How many runs of a probe with that outcome came one after another right before a log line. The agent must log at
  /// level debug.
  func runsInARow(of probe: String, _ outcome: String, target: String, before line: JSON) -> Int {
    let log = log
    let end = log.firstIndex(of: line) ?? 0
    let runs = log[..<end].filter {
      $0["event"]?.text == "probe_finished" && $0["target"]?.text == target && $0["probe"]?.text == probe
    }
    return runs.reversed().prefix { $0["outcome"]?.text == outcome }.count
  }
}
