import Glibc
import ReachConfig
import ReachCore
import ReachDiscovery
import ReachIO
import ReachTestSupport

/// Discovery for a configuration in a folder of its own, with what it tells.
///
/// Isolation: on the loop.
final class DiscoveryStage: Sendable {
  private struct State: Sendable {
    var lists: [[ConfiguredTarget]] = []
    var events: [DiscoveryEvent] = []
    var discovery: TargetDiscovery?
  }

  let loop: EventLoop
  let folder: TestFolder
  private let state: LoopConfined<State>

  init(on loop: EventLoop) throws {
    self.loop = loop
    folder = try TestFolder()
    state = LoopConfined(State(), on: loop)
  }

  /// Begins, or goes on by another configuration, and waits for the first list.
  func start(_ text: String) async throws {
    let told = lists.count
    try begin(text)
    try await wait("the first list") { lists.count > told }
  }

  /// Begins, or goes on by another configuration.
  func begin(_ text: String) throws {
    let document = ConfigurationDocument(parsing: Array(text.utf8), file: folder.path + "/reachd.yaml")
    let result = document.resolve { _ in [] }
    guard let configuration = result.configuration else { throw Failure(what: "\(result.problems)") }
    let old = state.withState { $0.discovery }
    let discovery = TargetDiscovery(configuration, continuing: old, userAgent: "reachd/test", on: loop) {
      [state] event in
      state.withState { $0.events.append(event) }
    }
    old?.stop()
    state.withState { $0.discovery = discovery }
    discovery.start { [state] targets in state.withState { $0.lists.append(targets) } }
  }

  func stop() {
    state.withState { $0.discovery }?.stop()
    state.withState { $0.discovery = nil }
  }

  var discovery: TargetDiscovery? { state.withState { $0.discovery } }
  /// Every list that was told.
  var lists: [[ConfiguredTarget]] { state.withState { $0.lists } }
  /// The names of the newest list.
  var names: [String] { lists.last?.map(\.target.name) ?? [] }
  var events: [DiscoveryEvent] { state.withState { $0.events } }
  /// What was ignored or failed, shortened.
  var problems: [String] {
    events.compactMap { event in
      switch event {
      case .ignored(_, let origin, let entry, let problem): "\(name(origin)) \(entry ?? 0) \(problem)"
      case .failed(_, let origin, let problem, let kept): "\(name(origin)) kept \(kept) \(problem)"
      case .discovered: nil
      }
    }
  }

  private func name(_ origin: String) -> String { origin.split(separator: "/").last.map(String.init) ?? origin }

  struct Failure: Error { let what: String }

  /// Waits until the newest list has these names.
  func wait(for names: [String]) async throws {
    try await wait("the targets \(names)") { self.names == names }
  }

  func wait(_ what: String, _ condition: () -> Bool) async throws {
    _ = try await eventually(what, on: loop, state: { "\(self.names) \(self.events)" }) { condition() ? true : nil }
  }

  func path(_ name: String) -> String { folder.path + "/" + name }
  func rename(_ old: String, _ new: String) throws {
    if unsafe Glibc.rename(path(old), path(new)) != 0 { throw SystemError.current("rename") }
  }
  func remove(_ name: String) throws { if unsafe unlink(path(name)) != 0 { throw SystemError.current("unlink") } }
  func makeFolder(_ name: String) throws {
    if unsafe mkdir(path(name), 0o755) != 0 { throw SystemError.current("mkdir") }
  }
  func link(_ name: String, to target: String) throws {
    if unsafe symlink(target, path(name)) != 0 { throw SystemError.current("symlink") }
  }
}

/// Runs `body` with a stage on a loop of its own, on real time, and sees that nothing is left open.
func withDiscovery(_ body: @escaping @Sendable (DiscoveryStage) async throws -> Void) async throws {
  try await withEventLoop(isolatesDescriptors: true) { loop in
    let stage = try DiscoveryStage(on: loop)
    do { try await body(stage) } catch {
      stage.stop()
      throw error
    }
    stage.stop()
  }
}
