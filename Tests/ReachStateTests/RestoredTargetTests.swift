import ReachCore
import ReachTestSupport
import Testing

@testable import ReachState

struct RestoredTargetTests {
  private static let hour: Int64 = 3_600_000_000_000
  private static let now: Int64 = 1_000 * hour

  private static let target = Target(name: "db", kind: .address("192.0.2.1"), port: 443)

  private static func row(
    _ adjust: (inout StoredTarget) -> Void = { _ in }
  ) -> StoredTarget {
    var totals = TransitionTotals()
    totals[.notReachable] = 5
    var row = StoredTarget(
      name: "db", definition: TargetDefinition.text(of: target), sequence: 9, status: "NotReachable", flags: 0,
      reason: "tcp_timeout", interface: "eth0", medium: "wired", gateway: "", source: "192.0.2.7",
      address: "192.0.2.1", since: now - 2 * hour, totals: totals, counters: "3 path_changes",
      lastRun: StoredRun(boot: "one", seenAt: now - hour, isEnded: true))
    adjust(&row)
    return row
  }

  private static func restored(boot: String = "one", _ adjust: (inout StoredTarget) -> Void) -> RestoredTarget {
    row(adjust).restored(as: target, at: now, boot: boot)
  }

  @Test("a row of a clean end gives the state, held as stale, and every counter")
  func whole() throws {
    let restored = Self.restored(boot: "two") { _ in }
    let state = try #require(restored.state)
    #expect(state.isStale)
    #expect(state.verdict.status == .notReachable)
    #expect(state.verdict.reason == .tcpTimeout)
    #expect(state.verdict.path.medium == .wired)
    #expect(state.verdict.path.gateway == nil)
    #expect(state.since == Self.now - 2 * Self.hour)
    #expect(restored.totals[.notReachable] == 5)
    #expect(restored.counters == [KeptCounter("path_changes", 3)])
  }

  @Test("after the agent was killed the transitions hold; after the machine went down with it they begin again")
  func exactness() {
    let killed = Self.restored(boot: "one") { $0.lastRun.isEnded = false }
    #expect(killed.totals[.notReachable] == 5)
    #expect(killed.counters == [])
    let crashed = Self.restored(boot: "two") { $0.lastRun.isEnded = false }
    #expect(crashed.totals == TransitionTotals())
    #expect(crashed.state != nil)
    #expect(crashed.sequence == 9)
  }

  @Test("a state that was last true over a day ago is not published, but counts go on")
  func tooOld() {
    let restored = Self.restored { $0.lastRun.seenAt = Self.now - 25 * Self.hour }
    #expect(restored.state == nil)
    #expect(restored.sequence == 9)
    #expect(restored.totals[.notReachable] == 5)
    #expect(restored.counters.count == 1)
  }

  @Test("a wall clock that was set back makes nothing negative")
  func clockSetBack() {
    let restored = Self.restored {
      $0.lastRun.seenAt = Self.now + Self.hour
      $0.since = Self.now + Self.hour
    }
    #expect(restored.state?.since == Self.now)
    #expect(Self.restored { $0.lastRun.seenAt = .max }.state != nil)
    #expect(Self.restored { $0.lastRun.seenAt = .min }.state == nil)
  }

  @Test("a row that contradicts itself gives no state, and a wild number no trap")
  func contradictions() {
    #expect(Self.restored { $0.status = "ReachableViaWiFi" }.state == nil)
    #expect(Self.restored { $0.flags = nil }.state == nil)
    #expect(Self.restored { $0.flags = 2 }.state == nil)
    #expect(Self.restored { $0.reason = "nonsense" }.state == nil)
    #expect(Self.restored { $0.since = nil }.state == nil)
    #expect(
      Self.restored { $0.sequence = -4 }
        == RestoredTarget(
          sequence: 0, state: nil, totals: Self.row().totals, counters: [KeptCounter("path_changes", 3)]))
    #expect(
      Self.restored {
        $0.flags = .max; $0.since = .min; $0.sequence = .max
      }.sequence == UInt64(Int64.max))
    #expect(Self.restored { $0.gateway = "300.1.1.1" }.state?.verdict.path.gateway == nil)
  }

  @Test("an Unknown status is restored as one")
  func unknown() {
    let restored = Self.restored {
      $0.status = "Unknown"
      $0.flags = nil
      $0.reason = "probe_error:EMFILE"
    }
    #expect(restored.state?.verdict.status == .unknown)
    #expect(restored.state?.verdict.reason == .probeError(FaultCode(errno: 24)))
  }

  @Test("kept counters read as they were written, and broken lines are left out")
  func counters() {
    let counters = [KeptCounter("a b  c", 1), KeptCounter("", 2), KeptCounter("x\r", .max)]
    #expect(KeptCounter.list(KeptCounter.text(counters)) == counters)
    #expect(KeptCounter.text([KeptCounter("a\nb", 1), KeptCounter("none", 0)]) == "")
    #expect(KeptCounter.list("\n\n12\n-1 a\n 1 b\n99999999999999999999 c\n5 d") == [KeptCounter("d", 5)])
  }

  @Test("every kind of target has a definition of its own")
  func definitions() {
    let kinds: [Target.Kind] = [
      .host(HostName(query: "192.0.2.1", display: "")), .address("192.0.2.1"),
      .pair(local: "192.0.2.1", remote: "192.0.2.2"), .defaultPath, .linkLocal(interface: "eth0"), .interface("eth0"),
    ]
    let texts = Set(kinds.map { TargetDefinition.text(of: Target(name: "x", kind: $0)) })
    #expect(texts.count == kinds.count)
    var bound = Self.target
    bound.source = SourceBinding(interface: "eth1", address: "192.0.2.9", mark: 7)
    #expect(TargetDefinition.text(of: bound) != TargetDefinition.text(of: Self.target))
  }
}
