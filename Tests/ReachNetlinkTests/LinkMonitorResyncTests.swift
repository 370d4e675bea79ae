import CReachLinux
import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Synchronization
import Testing

@testable import ReachNetlink

/// The monitor's own part, its timers and handlers, before a scripted kernel and on virtual time.
@Suite(.timeLimit(.minutes(4))) struct LinkMonitorResyncTests {
  private func withScript(
    _ readings: [ScriptedSource.Reading] = [],
    _ body: @escaping @Sendable (EventLoop, ManualClock, ScriptedSource, LinkMonitor) async throws -> Void
  ) async throws {
    let clock = ManualClock()
    try await withEventLoop(clock: clock) { loop in
      let source = ScriptedSource()
      source.kernel.withLock { kernel in for name in ["eth0", "eth1", "eth2"] { kernel.create(name) } }
      source.kernel.withLock { kernel in
        var scratch = [UInt8](repeating: 0, count: 4096)
        while kernel.receive(into: &scratch) != .nothing {}
      }
      source.readings.withLock { $0 = readings }
      let monitor = try LinkMonitor(loop: loop, session: try NetlinkSession(loop: loop), source: source)
      defer { monitor.stop() }
      clock.advance(by: .milliseconds(100))
      try await body(loop, clock, source, monitor)
    }
  }

  /// Fills the queue until messages are lost, the one that says that eth0 is gone among them.
  private func overrun(_ source: ScriptedSource) {
    source.kernel.withLock { kernel in
      kernel.capacity = 1
      kernel.create("new")
      if kernel.links[1] != nil { kernel.delete(1) } else { kernel.create("more") }
    }
  }

  @Test("lost messages are made good at once by reading everything, and handlers are told how long it took")
  func readsAnew() async throws {
    try await withScript { loop, _, source, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      overrun(source)
      monitor.drain()
      #expect(inbox.changes.map(\.kinds) == [[.link, .resync]])
      #expect(inbox.changes.first?.links == [4, 1])
      #expect(inbox.changes.first?.resyncDuration != nil)
      #expect(monitor.finding(named: "eth0").state == .missing)
      #expect(monitor.counters.overruns == 1)
      #expect(monitor.counters.resyncs == 1)
    }
  }

  @Test("while reading fails handlers have been told of the loss, and it is tried again each second")
  func triesAgain() async throws {
    try await withScript { loop, clock, source, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      overrun(source)
      source.readings.withLock { $0 = [.failed(ENOBUFS), .failed(EMFILE)] }
      monitor.drain()
      #expect(inbox.changes.map(\.kinds) == [[.link, .resync]])
      #expect(inbox.changes.first?.resyncDuration == nil)
      #expect(monitor.finding(named: "eth0").index == 1)
      await clock.advance(by: .milliseconds(1_500), on: loop)
      #expect(monitor.counters.failedResyncs == 2)
      #expect(inbox.changes.count == 1)
      await clock.advance(by: .milliseconds(500), on: loop)
      #expect(inbox.changes.count == 2)
      #expect(inbox.changes.last?.links == [1])
      #expect(inbox.changes.last?.resyncDuration != nil)
      #expect(monitor.finding(named: "eth0").state == .missing)
      #expect(monitor.counters.resyncs == 1)
      #expect(loop.pendingTimers == 0)
    }
  }

  @Test("a table that changes faster than it can be read is believed in parts, at the start too")
  func believesParts() async throws {
    try await withScript([.interrupted, .interrupted]) { loop, clock, source, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      #expect(monitor.links.map(\.name) == ["eth1"])
      await clock.advance(by: .milliseconds(900), on: loop)
      #expect(monitor.links.map(\.name) == ["eth1"])
      await clock.advance(by: .seconds(1), on: loop)
      #expect(monitor.links.map(\.name) == ["eth0", "eth1", "eth2"])
      #expect(inbox.changes.map(\.kinds) == [.link])
      #expect(inbox.changes.first?.links == [1, 3])
      #expect(source.readCount.withLock { $0 } == 3)
      #expect(monitor.counters.overruns == 0)
    }
  }

  @Test("overruns that follow one another are told each and read for at most every 100 ms")
  func spacesReadings() async throws {
    try await withScript { loop, clock, source, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      for _ in 0..<5 {
        overrun(source)
        monitor.drain()
      }
      #expect(inbox.changes.count == 5)
      #expect(source.readCount.withLock { $0 } == 2)
      await clock.advance(by: .milliseconds(100), on: loop)
      #expect(source.readCount.withLock { $0 } == 3)
      #expect(monitor.counters.overruns == 5)
      #expect(loop.pendingTimers == 0)
    }
  }

  @Test("a look at everything tells of what no message told, and of nothing when all is as it was")
  func rechecks() async throws {
    try await withScript { loop, _, source, monitor in
      let inbox = ChangeInbox(monitor, on: loop)
      monitor.recheck()
      #expect(inbox.changes.isEmpty)
      source.kernel.withLock { kernel in
        kernel.capacity = 0
        kernel.change(2) { $0.alternativeNames = ["uplink"] }
        var scratch = [UInt8](repeating: 0, count: 4096)
        _ = kernel.receive(into: &scratch)
      }
      #expect(monitor.finding(named: "uplink").state == .missing)
      monitor.recheck()
      #expect(monitor.finding(named: "uplink").index == 2)
      #expect(inbox.changes.map(\.kinds) == [.link])
      #expect(inbox.changes.first?.links == [2])
    }
  }

  @Test("a stopped monitor reads nothing any more")
  func stops() async throws {
    try await withScript { loop, clock, source, monitor in
      overrun(source)
      source.readings.withLock { $0 = [.failed(EPERM)] }
      monitor.drain()
      monitor.stop()
      monitor.recheck()
      await clock.advance(by: .seconds(5), on: loop)
      #expect(source.readCount.withLock { $0 } == 2)
      #expect(loop.pendingTimers == 0)
    }
  }
}
