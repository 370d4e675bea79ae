public import ReachCore
internal import Synchronization

/// A probe that a target runs, as its series name it.
public struct ProbeDescription: Hashable, Sendable {
  /// The backend's name, such as `tcp`.
  public let name: String
  /// The layer it looks at.
  public let layer: Layer

  /// A probe.
  public init(name: String, layer: Layer) {
    self.name = name
    self.layer = layer
  }

  /// Whether it sends anything, so that its duration says something about the network.
  var usesNetwork: Bool { layer == .dns || layer == .tcp }
}

/// One probe's counters for one target.
struct ProbeSeries {
  /// What the last finished run came to.
  enum Last: UInt8 {
    case none, failure, success
  }

  /// `,probe="tcp"`.
  let label: StaticBytes
  let name: String
  let usesNetwork: Bool
  var last = Last.none
  var runs: (success: UInt32, failure: UInt32, error: UInt32, skipped: UInt32) = (0, 0, 0, 0)
  var durations: Histogram?

  init(_ probe: ProbeDescription, detail: MetricsDetail) {
    label = Self.label(of: probe.name)
    name = probe.name
    usesNetwork = probe.usesNetwork
    switch detail {
    case .compact: durations = nil
    case .standard: durations = probe.usesNetwork ? Histogram() : nil
    case .full: durations = Histogram(isFine: true)
    }
  }

  mutating func record(_ run: ProbeRun, of subject: Exemplar.Subject?) {
    switch run.outcome {
    case .success:
      runs.success &+= 1
      last = .success
    case .failure:
      runs.failure &+= 1
      last = .failure
    case .error:
      runs.error &+= 1
      last = .none
      return
    case .skipped:
      runs.skipped &+= 1
      return
    }
    if let duration = run.duration { durations?.record(duration, of: usesNetwork ? subject : nil) }
  }

  // A backend's name, of which there are as many as there are backends, whatever the number of targets.
  private static let labels = Mutex<[String: StaticBytes]>([:])

  private static func label(of name: String) -> StaticBytes {
    labels.withLock { labels in
      if let label = labels[name] { return label }
      var bytes = [UInt8(ascii: ",")]
      LabelText.append("probe", name, to: &bytes)
      let label = StaticBytes(bytes)
      labels[name] = label
      return label
    }
  }
}

/// How often a probe failed for one reason.
struct FailureCount {
  let probe: UInt8
  let reason: Reason
  var count: UInt32
}
