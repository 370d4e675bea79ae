import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachState

/// Targets that come and go while the store is open.
@Suite(.timeLimit(.minutes(4)))
struct AdoptionTests {
  @Test("a target that is taken in is known with its last run, and what was kept at a clean stop is given once")
  func known() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      var story = Story("db")
      let first = StateStore.testing(folder.path, [story.target], on: loop)
      first.record(story.turn())
      first.record(story.turn())
      var record = story.record
      record.counters = [KeptCounter("path_changes", 3)]
      await first.closeCleanly([record], on: loop)
      let second = StateStore.testing(folder.path, [], on: loop)
      let known = await second.adopt([story.target, Story("other").target])
      #expect(known.count == 1)
      #expect(known["db"]?.sequence == 2)
      #expect(known["db"]?.state?.verdict.status == story.state.verdict.status)
      #expect(known["db"]?.counters == [KeptCounter("path_changes", 3)])
      await second.abandon(on: loop)
      let third = StateStore.testing(folder.path, [story.target], on: loop)
      #expect(third.takeRestored()["db"]?.counters == [])
      await third.abandon(on: loop)
    }
  }

  @Test("a target that was given up in the same run goes on with its numbers, and its status is not believed")
  func again() async throws {
    try await withEventLoop { loop in
      let folder = try TestFolder()
      var story = Story("db")
      let store = StateStore.testing(folder.path, [story.target], on: loop)
      for _ in 0..<3 { store.record(story.turn()) }
      store.release(["db"])
      let known = await store.adopt([story.target])
      #expect(known["db"]?.sequence == 3)
      #expect(known["db"]?.state == nil)
      #expect(known["db"]?.totals == story.totals)
      await store.abandon(on: loop)
    }
  }

  @Test("a store in memory knows nobody")
  func inMemory() async throws {
    try await withEventLoop { loop in
      let store = StateStore.testing(nil, [], on: loop)
      #expect(await store.adopt([Story("db").target]).isEmpty)
    }
  }

  @Test("a target defined anew keeps all where it asks the same, and only its number where it asks something else")
  func redefined() {
    var story = Story("db")
    _ = story.turn()
    _ = story.turn()
    var record = story.record
    record.counters = [KeptCounter("path_changes", 3)]
    var patient = story.target
    patient.policy.interval = .seconds(7)
    let same = RestoredTarget(record, as: patient)
    #expect(same.state == record.state && same.totals == record.totals && same.counters == record.counters)
    let other = RestoredTarget(record, as: Story("db", port: 80).target)
    #expect(other.sequence == 2 && other.state == nil && other.counters.isEmpty)
    #expect(other.totals == TransitionTotals())
  }
}
