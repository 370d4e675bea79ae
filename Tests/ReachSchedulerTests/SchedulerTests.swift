import ReachCore
import ReachIO
import ReachProbe
import ReachScheduler
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct SchedulerTests {
  /// What a scheduler said, and a way to wait until it has said enough.
  private final class Journal: Sendable {
    private let loop: EventLoop
    private let entries: LoopConfined<[(tag: Int, event: SchedulerEvent)]>

    init(on loop: EventLoop) {
      self.loop = loop
      entries = LoopConfined([], on: loop)
    }

    func note(_ tag: Int, _ event: SchedulerEvent) { entries.withState { $0.append((tag, event)) } }

    func reports(_ tag: Int) -> [RoundReport] {
      entries.withState {
        $0.compactMap { if $0.tag == tag, case .finished(let report) = $0.event { report } else { nil } }
      }
    }

    func skips(_ tag: Int) -> Int {
      entries.withState {
        $0.reduce(0) { if $1.tag == tag, case .skipped(let rounds) = $1.event { $0 + rounds } else { $0 } }
      }
    }

    /// Returns once `condition` holds; asks again at each millisecond of the loop.
    func wait(until condition: (Journal) -> Bool) async {
      while !condition(self) { await loop.sleep(until: loop.now().advanced(by: .milliseconds(1))) }
    }
  }

  private func target(_ name: String, interval: Duration = .milliseconds(20), timeout: Duration = .milliseconds(20))
    -> Target
  {
    var target = Target.web
    target.name = name
    target.policy.interval = interval
    target.policy.timeout = timeout
    return target
  }

  @Test("targets are probed again and again, each reported with its tag, on one thread")
  func runs() async throws {
    try await withEventLoop { loop in
      let host = try testHost(on: loop)
      let journal = Journal(on: loop)
      let scheduler = Scheduler(loop: loop) { journal.note($0, $1) }
      scheduler.add([
        ScheduledTarget(
          RoundRunner(target: self.target("a"), probes: [.route(.route()), .tcp(.tcp())], host: host), tag: 7),
        ScheduledTarget(RoundRunner(target: self.target("b"), probes: [.link(.link(.noCarrier))], host: host), tag: 8),
      ])
      await journal.wait { $0.reports(7).count >= 3 && $0.reports(8).count >= 3 }
      #expect(journal.reports(7).allSatisfy { $0.runs.map(\.outcome) == [.success, .success] })
      #expect(journal.reports(8).allSatisfy { $0.runs.map(\.outcome) == [.failure(.carrierLost)] })
      #expect(scheduler.counts.targets == 2)
      #expect(await scheduler.stop() == 0)
      let before = journal.reports(7).count
      await loop.sleep(until: loop.now().advanced(by: .milliseconds(60)))
      #expect(journal.reports(7).count == before, "nothing starts after a stop")
    }
  }

  @Test("a stuck backend is reported once as overran and stops nobody else; what it brings in the end is dropped")
  func stuck() async throws {
    try await withEventLoop { loop in
      var settings = SchedulerSettings()
      settings.grace = .milliseconds(5)
      settings.longestSlot = .milliseconds(10)
      let gate = Gate()
      let host = try testHost(on: loop)
      let journal = Journal(on: loop)
      let scheduler = Scheduler(loop: loop, settings: settings) { journal.note($0, $1) }
      scheduler.add([
        ScheduledTarget(
          RoundRunner(
            target: self.target("stuck"), probes: [.route(.route()), .tcp(.stuck(until: gate))], host: host), tag: 1),
        ScheduledTarget(RoundRunner(target: self.target("good"), probes: [.tcp(.tcp())], host: host), tag: 2),
      ])
      await journal.wait { $0.skips(1) >= 2 && $0.reports(1).count >= 1 && $0.reports(2).count >= 3 }
      #expect(journal.reports(1).count == 1)
      let report = try #require(journal.reports(1).first)
      #expect(report.findings.fault == LocalFault(.backendOverran, detail: "tcp"))
      #expect(report.runs.map(\.outcome.name) == ["success", "error"])
      #expect(scheduler.counts.stuck == 1)
      #expect(scheduler.counts.overran == 1)
      gate.open()
      // The gate stays open, so the target is healthy from its next round on.
      await journal.wait { $0.reports(1).count >= 2 }
      #expect(journal.reports(1)[1].findings.fault == nil)
      #expect(scheduler.counts.stuck == 0)
      _ = await scheduler.stop()
    }
  }

  @Test("a stop is bounded: it says how many backends have not heeded it")
  func boundedStop() async throws {
    try await withEventLoop { loop in
      let gate = Gate()
      let journal = Journal(on: loop)
      let scheduler = Scheduler(loop: loop) { journal.note($0, $1) }
      let patient = ScriptedBackend { (_, context) throws(LocalFault) in
        await context.host.loop.sleep(until: context.deadline)
        return .tcp([TCPFinding(.failed(.tcpTimeout))])
      }
      let host = try testHost(on: loop)
      let slow = { (name: String) in self.target(name, interval: .seconds(60), timeout: .seconds(60)) }
      scheduler.add([
        ScheduledTarget(RoundRunner(target: slow("a"), probes: [.tcp(.stuck(until: gate))], host: host), tag: 1),
        ScheduledTarget(RoundRunner(target: slow("b"), probes: [.tcp(patient)], host: host), tag: 2),
      ])
      await journal.wait { _ in scheduler.counts.running == 2 }
      #expect(await scheduler.stop(within: .milliseconds(20)) == 1)
      gate.open()
      #expect(await scheduler.stop() == 0)
      #expect(journal.reports(1).isEmpty && journal.reports(2).isEmpty, "results after a stop are dropped")
    }
  }

  @Test("a removed target's result is dropped, a replaced one's too, and the others go on")
  func changes() async throws {
    try await withEventLoop { loop in
      let host = try testHost(on: loop)
      let journal = Journal(on: loop)
      let scheduler = Scheduler(loop: loop) { journal.note($0, $1) }
      let gate = Gate()
      let runner = { (name: String, backend: ScriptedBackend) in
        RoundRunner(target: self.target(name, timeout: .seconds(9)), probes: [.tcp(backend)], host: host)
      }
      scheduler.add([
        ScheduledTarget(runner("gone", .stuck(until: gate)), tag: 1),
        ScheduledTarget(runner("changed", .stuck(until: gate)), tag: 2),
        ScheduledTarget(runner("kept", .tcp()), tag: 3),
      ])
      await journal.wait { $0.reports(3).count >= 1 }
      scheduler.remove(["gone", "never there"])
      scheduler.add([ScheduledTarget(runner("changed", .tcp(.failed(.tcpRefused))), tag: 4)])
      gate.open()
      await journal.wait { $0.reports(3).count >= 3 && $0.reports(4).count >= 2 }
      #expect(journal.reports(1).isEmpty)
      #expect(journal.reports(2).isEmpty)
      #expect(journal.reports(4).allSatisfy { $0.runs.map(\.outcome) == [.failure(.tcpRefused)] })
      #expect(scheduler.names.sorted() == ["changed", "kept"])
      _ = await scheduler.stop()
    }
  }

  @Test("an observer may change the targets while it is told of one")
  func reentrance() async throws {
    try await withEventLoop { loop in
      let host = try testHost(on: loop)
      let journal = Journal(on: loop)
      let owner = LoopConfined<Scheduler?>(nil, on: loop)
      let scheduler = Scheduler(loop: loop) { tag, event in
        journal.note(tag, event)
        let scheduler = owner.withState { $0 }
        if tag == 1, case .finished = event {
          scheduler?.remove(["a"])
          scheduler?.add([
            ScheduledTarget(RoundRunner(target: self.target("b"), probes: [.tcp(.tcp())], host: host), tag: 2)
          ])
        }
        if tag == 2, case .started = event { scheduler?.probeNow() }
      }
      owner.withState { $0 = scheduler }
      scheduler.add([ScheduledTarget(RoundRunner(target: self.target("a"), probes: [.tcp(.tcp())], host: host), tag: 1)]
      )
      await journal.wait { $0.reports(2).count >= 3 }
      #expect(journal.reports(1).count == 1)
      _ = await scheduler.stop()
    }
  }
}
