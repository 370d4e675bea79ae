internal import ReachConfig
internal import ReachCore
internal import ReachDiscovery
internal import ReachIO
internal import ReachLog
internal import ReachMetrics

/// How targets that are found while the agent runs come to be watched.
extension Agent {
  /// What finds targets where the configuration says; nil where it says nothing. What `other` knows of a source that both
  /// name stays.
  static func discovery(
    by configuration: Configuration, continuing other: TargetDiscovery? = nil, on loop: EventLoop, _ log: Logger
  ) -> TargetDiscovery? {
    guard !configuration.sources.isEmpty else { return nil }
    return TargetDiscovery(
      configuration, continuing: other, userAgent: "reachd/\(BuildInformation.version)", on: loop
    ) { event in log.log(LogEvent(event)) }
  }

  /// Has targets found where the configuration says, instead of where the one before said.
  func discover(by configuration: Configuration) {
    let old = discovery.current
    discovery.set(Self.discovery(by: configuration, continuing: old, on: loop, log))
    old?.stop()
    if discovery.current == nil, old != nil { discovered([]) }
    beginDiscovery()
  }

  /// Begins to find targets, and to watch them.
  func beginDiscovery() {
    guard let current = discovery.current else { return }
    current.start { [weak self] targets in self?.discovered(targets) }
    if let limitation = current.limitation { log.log(Self.lateFiles(limitation)) }
  }

  /// Takes the newest list. While one is being put in force, later ones wait, and only the last of them counts.
  private func discovered(_ targets: [ConfiguredTarget]) {
    guard discovery.offer(targets) else { return }
    loop.spawn { [self] in
      while let targets = discovery.take() {
        do throws(AgentError) {
          try await setDiscovered(targets)
        } catch {
          log.log(
            .selfCheck(
              check: "configuration", problem: "the discovered targets cannot be watched: \(error)",
              remedy: "mend 'defaults' of the source that they come from"))
        }
      }
    }
  }

  private static func lateFiles(_ limitation: SystemError) -> LogEvent {
    .noticedLate("changes of the files of targets_from are", limitation, in: "the files of targets_from")
  }
}

/// The discovery that goes on, and what it found last and is not watched yet.
///
/// Isolation: on the event loop, or before it runs.
final class DiscoveryInForce: Sendable {
  private struct State: Sendable {
    var current: TargetDiscovery?
    var waiting: [ConfiguredTarget]?
    var isBusy = false
  }

  private let state: LoopConfined<State>

  init(_ discovery: TargetDiscovery?, on loop: EventLoop) {
    state = LoopConfined(State(current: discovery), on: loop)
  }

  var current: TargetDiscovery? { state.withState { $0.current } }

  func set(_ discovery: TargetDiscovery?) { state.withState { $0.current = discovery } }

  /// Leaves the newest list to be taken. Returns whether somebody must come for it.
  func offer(_ targets: [ConfiguredTarget]) -> Bool {
    state.withState { state in
      state.waiting = targets
      defer { state.isBusy = true }
      return !state.isBusy
    }
  }

  /// The newest list, once; nil when there is none, and nobody comes any more.
  func take() -> [ConfiguredTarget]? {
    state.withState { state in
      defer { state.waiting = nil }
      if state.waiting == nil { state.isBusy = false }
      return state.waiting
    }
  }

  /// What is counted of each source.
  var series: [SourceSeries] {
    current?.samples.map {
      SourceSeries(source: $0.source, targets: $0.targets, failures: $0.failures, lastSuccess: $0.lastSuccess)
    } ?? []
  }
}

extension LogEvent {
  /// What discovery has to say.
  init(_ event: DiscoveryEvent) {
    self =
      switch event {
      case .ignored(let source, let origin, let entry, let problem):
        .discoveryIgnored(source: source, file: origin, entry: entry, problem: problem)
      case .failed(let source, let origin, let problem, let kept):
        .discoveryFailed(source: source, file: origin, problem: problem, kept: kept)
      case .discovered(let source, let targets): .targetsDiscovered(source: source, targets: targets)
      }
  }
}
