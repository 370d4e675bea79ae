import ReachCore
import ReachIO
import ReachTestSupport

@testable import ReachState

/// Targets and what becomes of them, for tests.
struct Story: Sendable {
  var target: Target
  private(set) var state = TargetState()
  private(set) var totals = TransitionTotals()

  init(_ name: String, kind: Target.Kind = .address("192.0.2.1"), port: UInt16? = 443) {
    target = Target(name: name, kind: kind, port: port)
  }

  init(_ target: Target, from restored: RestoredTarget) {
    self.target = target
    state = restored.state ?? TargetState(sequence: restored.sequence)
    totals = restored.totals
  }

  var record: TargetRecord { TargetRecord(target, state: state, totals: totals) }

  /// The next status, which is the other one of two.
  mutating func turn(at wall: Int64 = WallClock.nanosecondsSinceEpoch()) -> StateChange {
    let old: Status? = state.since == nil ? nil : state.verdict.status
    let path = ReachabilityPath(
      interface: "eth0", interfaceIndex: 2, medium: .wired, gateway: "192.0.2.254", source: "192.0.2.7",
      address: "192.0.2.1")
    let verdict =
      old == .notReachable
      ? Verdict(flags: [.reachable], rule: .afnetworking, reason: .tcpOpen, path: path)
      : Verdict(flags: [], rule: .afnetworking, reason: .tcpTimeout, path: path)
    let change = StatusChange(
      sequence: state.sequence + 1, at: wall, from: old, to: verdict, inPrevious: old == nil ? nil : .seconds(3))
    state = TargetState(verdict: verdict, isStale: false, since: wall, sequence: change.sequence)
    if old != nil { totals[verdict.status] += 1 }
    return StateChange(record, transition: Transition(change, of: target.name))
  }
}

/// What a store reports.
final class Problems: Sendable {
  private let kept: LoopConfined<[StateProblem]>
  init(_ loop: EventLoop) { kept = LoopConfined([], on: loop) }
  var all: [StateProblem] { kept.withState { $0 } }
  func report(_ problem: StateProblem) { kept.withState { $0.append(problem) } }
}

extension StateStore {
  /// A store on a folder, with short waits.
  static func testing(
    _ directory: String?, _ targets: [Target], on loop: EventLoop, problems: Problems? = nil,
    _ adjust: (inout StateSettings) -> Void = { _ in }
  ) -> StateStore {
    var settings = StateSettings()
    settings.startPatience = .seconds(30)
    settings.answerPatience = .seconds(30)
    settings.patience = .seconds(30)
    settings.retry = .milliseconds(5)
    adjust(&settings)
    return StateStore(directory: directory, targets: targets, on: loop, settings: settings) { problem in
      problems?.report(problem)
    }
  }

  /// Waits until all that has been recorded is kept.
  func settled(on loop: EventLoop) async {
    _ = await loop.wait(until: loop.now().advanced(by: .seconds(30))) { (wait: PendingWait) in
      self.afterwards { wait.finish(.ready([])) }
    }
  }

  /// The newest transitions.
  func newest(_ limit: Int = 10_000, of target: String? = nil, on loop: EventLoop) async -> [Transition]? {
    let answer = LoopConfined<[Transition]?>(nil, on: loop)
    _ = await loop.wait(until: loop.now().advanced(by: .seconds(30))) { (wait: PendingWait) in
      self.newest(limit, of: target) { found in
        answer.withState { $0 = found }
        wait.finish(.ready([]))
      }
    }
    return answer.withState { $0 }
  }

  /// Ends it as a kill would: nothing more is kept. Waits until the thread is gone.
  func abandon(on loop: EventLoop) async { await close(nil, by: loop.now().advanced(by: .seconds(30))) }

  func closeCleanly(_ records: [TargetRecord], on loop: EventLoop) async {
    await close(records, by: loop.now().advanced(by: .seconds(30)))
  }
}
