import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachState

@Suite(.timeLimit(.minutes(4)))
struct StateStoreTests {
  @Test("what was recorded is there after a clean end, with its counters")
  func cleanRestart() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      var story = Story("db")
      let store = StateStore.testing(folder.path, [story.target], on: loop)
      #expect(store.isPersistent)
      #expect(store.takeRestored() == [:])
      let changes = (0..<4).map { story.turn(at: 1_000_000 + Int64($0)) }
      for change in changes { store.record(change) }
      var record = story.record
      record.counters = [KeptCounter("probe_failures.tcp.probe_error:errno 4095", 7), KeptCounter("path_changes", 0)]
      await store.closeCleanly([record], on: loop)

      let next = StateStore.testing(folder.path, [story.target], on: loop)
      let restored = try #require(next.takeRestored()["db"])
      #expect(next.takeRestored() == [:])
      #expect(restored.sequence == 4)
      #expect(restored.totals == story.totals)
      #expect(restored.counters == [KeptCounter("probe_failures.tcp.probe_error:errno 4095", 7)])
      var state = story.state
      state.isStale = true
      state.verdict.path.interfaceIndex = 0
      #expect(restored.state == state)
      #expect(await next.newest(on: loop) == changes.compactMap(\.transition).reversed())
      await next.abandon(on: loop)
    }
  }

  @Test("after an end that was not clean the transitions are exact and the other counters begin again")
  func uncleanRestart() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      var story = Story("db")
      var record = story.record
      record.counters = [KeptCounter("path_changes", 3)]
      let first = StateStore.testing(folder.path, [story.target], on: loop)
      first.record(story.turn())
      await first.closeCleanly([record], on: loop)
      let second = StateStore.testing(folder.path, [story.target], on: loop)
      for _ in 0..<3 { second.record(story.turn()) }
      await second.settled(on: loop)
      await second.abandon(on: loop)
      let third = StateStore.testing(folder.path, [story.target], on: loop)
      let restored = try #require(third.takeRestored()["db"])
      #expect(restored.sequence == 4)
      #expect(restored.totals == story.totals)
      #expect(restored.counters == [])
      await third.abandon(on: loop)
    }
  }

  @Test("what waits for a change is called once it is kept, and in the order in which it was given")
  func afterwards() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      var story = Story("db")
      let store = StateStore.testing(folder.path, [story.target], on: loop)
      let order = LoopConfined<[Int]>([], on: loop)
      store.afterwards { order.withState { $0.append(0) } }
      #expect(order.withState { $0 } == [0])
      for number in 1...50 {
        store.record(story.turn())
        store.afterwards { order.withState { $0.append(number) } }
      }
      #expect(order.withState { $0 } == [0])
      await store.settled(on: loop)
      #expect(order.withState { $0 } == Array(0...50))
      var kept = 0
      try TransitionHistory.read(directory: folder.path) { _ in kept += 1 }
      #expect(kept == 49)
      await store.abandon(on: loop)
    }
  }

  @Test("what is asked for is the newest, of one target or of all, and no more than that")
  func newest() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      for directory in [folder.path, nil] {
        var stories = ["a", "b"].map { Story($0) }
        let store = StateStore.testing(directory, stories.map(\.target), on: loop)
        var all: [Transition] = []
        for _ in 0..<20 {
          for index in stories.indices {
            let change = stories[index].turn()
            store.record(change)
            if let transition = change.transition { all.insert(transition, at: 0) }
          }
        }
        #expect(await store.newest(on: loop) == all)
        #expect(await store.newest(7, on: loop) == Array(all.prefix(7)))
        #expect(await store.newest(3, of: "b", on: loop) == Array(all.filter { $0.target == "b" }.prefix(3)))
        #expect(await store.newest(of: "nobody", on: loop) == [])
        await store.abandon(on: loop)
      }
    }
  }

  @Test("without a folder the newest are kept in memory, and nothing is waited for")
  func memory() async throws {
    try await withEventLoop { loop in
      let store = StateStore.testing(nil, [], on: loop) { $0.inMemory = 3 }
      #expect(!store.isPersistent)
      var story = Story("db")
      let changes = (0..<9).map { _ in story.turn() }
      for change in changes { store.record(change) }
      let called = LoopConfined(false, on: loop)
      store.afterwards { called.withState { $0 = true } }
      #expect(called.withState { $0 })
      #expect(await store.newest(on: loop) == changes.suffix(3).compactMap(\.transition).reversed())
      await store.closeCleanly([], on: loop)
    }
  }

  @Test("a second agent does not get the folder, and says who has it")
  func locked() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let problems = Problems(loop)
      let first = StateStore.testing(folder.path, [], on: loop)
      let second = StateStore.testing(folder.path, [], on: loop, problems: problems)
      #expect(first.isPersistent)
      #expect(!second.isPersistent)
      #expect(problems.all.count == 1)
      #expect(problems.all.first?.problem.contains("in use by another agent, process ") == true)
      await first.abandon(on: loop)
      let third = StateStore.testing(folder.path, [], on: loop)
      #expect(third.isPersistent)
      await third.abandon(on: loop)
    }
  }

  @Test("a queue without room drops and counts, says so once, and what is kept is made whole later")
  func fullQueue() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let problems = Problems(loop)
      let story = LoopConfined(Story("db"), on: loop)
      let target = story.withState { $0.target }
      let store = StateStore.testing(folder.path, [target], on: loop, problems: problems) { $0.queue = 5 }
      let asked = LoopConfined(0, on: loop)
      store.onLoss {
        asked.withState { $0 += 1 }
        return [story.withState { $0.record }]
      }
      for _ in 0..<20 { store.record(story.withState { $0.turn() }) }
      #expect(store.lost == 15)
      #expect(problems.all.count == 1)
      _ = try await eventually("the question", on: loop) { asked.withState { $0 } == 1 ? true : nil }
      await store.abandon(on: loop)
      let next = StateStore.testing(folder.path, [target], on: loop)
      #expect(next.takeRestored()["db"]?.sequence == 20)
      await next.abandon(on: loop)
    }
  }

  @Test("a target that is defined otherwise keeps its number and nothing else")
  func redefined() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      var story = Story("db")
      let store = StateStore.testing(folder.path, [story.target], on: loop)
      for _ in 0..<3 { store.record(story.turn()) }
      await store.closeCleanly([story.record], on: loop)
      var other = Story("db", port: 444)
      other.target.policy.interval = .seconds(1)
      let next = StateStore.testing(folder.path, [other.target], on: loop)
      #expect(next.takeRestored()["db"] == RestoredTarget(sequence: 3, state: nil))
      await next.abandon(on: loop)
      story.target.policy.interval = .seconds(1)
      story.target.labels = [Label(name: "team", value: "storage")]
      let last = StateStore.testing(folder.path, [story.target], on: loop)
      #expect(last.takeRestored()["db"]?.state?.verdict.status == .notReachable)
      await last.abandon(on: loop)
    }
  }

  @Test("odd names and texts are kept as they are")
  func oddNames() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let names = ["", "two\nlines", "nul\0inside", "☃ 'quoted' \"twice\"", String(repeating: "x", count: 5_000)]
      var stories = names.map { Story($0) }
      let store = StateStore.testing(folder.path, stories.map(\.target), on: loop)
      for index in stories.indices {
        store.record(stories[index].turn())
        store.record(stories[index].turn())
      }
      await store.closeCleanly(stories.map(\.record), on: loop)
      let next = StateStore.testing(folder.path, stories.map(\.target), on: loop)
      #expect(next.takeRestored().keys.sorted() == names.sorted())
      #expect(await next.newest(on: loop)?.map(\.target).sorted() == names.sorted())
      await next.abandon(on: loop)
    }
  }
}
