import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachState

/// A small file system in memory, for as long as this value lives.
private final class SmallDisk {
  let folder: TestFolder

  static let isAvailable: Bool = {
    let probe = try? SmallDisk(size: "64k")
    return probe != nil
  }()

  init(size: String) throws {
    folder = try TestFolder()
    try Self.run(["mount", "-t", "tmpfs", "-o", "size=\(size)", "tmpfs", folder.path])
  }

  func remount(_ option: String) throws { try Self.run(["mount", "-o", "remount,\(option)", folder.path]) }

  deinit { _ = try? runProgram(["umount", "-l", folder.path]) }

  private static func run(_ words: [String]) throws {
    let result = try runProgram(words)
    guard result.isSuccess else { throw MountFailure(description: result.output) }
  }
}

private struct MountFailure: Error {
  let description: String
}

@Suite(.serialized, .timeLimit(.minutes(4)))
struct DiskTroubleTests {
  // Mounting takes the rights of root over this mount namespace. Where a skipped test counts as failed, it runs anyway.
  private static let canMount = SmallDisk.isAvailable || TestRequirements.areAllRequired

  @Test("a folder that cannot be made is one problem, and the store is one in memory")
  func noFolder() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      try folder.write("", to: "file")
      for path in [folder.path + "/none/state", folder.path + "/file", "/proc/reachd"] {
        let problems = Problems(loop)
        let store = StateStore.testing(path, [], on: loop, problems: problems)
        #expect(!store.isPersistent)
        #expect(problems.all.count == 1)
        #expect(problems.all.first?.problem.hasSuffix("are kept in memory only") == true, "\(problems.all)")
        #expect(problems.all.first?.remedy.isEmpty == false)
        var story = Story("db")
        _ = story.turn()
        store.record(story.turn())
        #expect(await store.newest(on: loop)?.count == 1)
      }
    }
  }

  @Test("the folder itself is made")
  func madeFolder() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let store = StateStore.testing(folder.path + "/state", [], on: loop)
      #expect(store.isPersistent)
      await store.abandon(on: loop)
    }
  }

  @Test("a full disk is one problem; changes wait, and are kept once there is room", .enabled(if: canMount))
  func fullDisk() async throws {
    try await withEventLoop { loop in
      let disk = try SmallDisk(size: "512k")
      let problems = Problems(loop)
      var story = Story("db")
      let store = StateStore.testing(disk.folder.path, [story.target], on: loop, problems: problems)
      #expect(store.isPersistent)
      store.record(story.turn())
      await store.settled(on: loop)
      _ = try runProgram(["dd", "if=/dev/zero", "of=\(disk.folder.path)/filler", "bs=4k"])
      var recorded = 0
      // What is in the log's file already may still be written over: it takes a while.
      _ = try await eventually("the problem", on: loop) {
        store.record(story.turn())
        recorded += 1
        await store.settled(on: loop)
        return problems.all.isEmpty ? nil : true
      }
      for _ in 0..<50 {
        store.record(story.turn())
        recorded += 1
      }
      // Nothing waits for a disk that is known to refuse.
      let called = LoopConfined(false, on: loop)
      store.afterwards { called.withState { $0 = true } }
      #expect(called.withState { $0 })
      #expect(await store.newest(10, on: loop)?.count == 10)
      #expect(problems.all.count == 1)
      #expect(problems.all.first?.remedy == "make room on that disk", "\(problems.all)")
      _ = try runProgram(["rm", "\(disk.folder.path)/filler"])
      _ = try await eventually("the changes", on: loop) {
        var kept = 0
        try TransitionHistory.read(directory: disk.folder.path) { _ in kept += 1 }
        return kept == recorded ? true : nil
      }
      #expect(problems.all.count == 1)
      #expect(store.lost == 0)
      await store.closeCleanly([story.record], on: loop)
    }
  }

  @Test("a disk that may only be read is one problem, and the store is one in memory", .enabled(if: canMount))
  func readOnlyDisk() async throws {
    try await withEventLoop { loop in
      let disk = try SmallDisk(size: "4m")
      let problems = Problems(loop)
      var story = Story("db")
      let store = StateStore.testing(disk.folder.path, [story.target], on: loop, problems: problems)
      store.record(story.turn())
      await store.settled(on: loop)
      await store.abandon(on: loop)
      // A program that another test is just starting still has our descriptors for a moment.
      _ = try await eventually("the remount", on: loop) { try? disk.remount("ro") }
      let refused = StateStore.testing(disk.folder.path, [story.target], on: loop, problems: problems)
      #expect(!refused.isPersistent)
      #expect(problems.all.count == 1)
      #expect(problems.all.first?.remedy.contains("may be written") == true, "\(problems.all)")
    }
  }

  @Test("a database that is taken away while it is used is begun anew with every target")
  func takenAway() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let problems = Problems(loop)
      var story = Story("db")
      let store = StateStore.testing(folder.path, [story.target], on: loop, problems: problems) {
        $0.heartbeat = .milliseconds(5)
      }
      store.record(story.turn())
      await store.settled(on: loop)
      store.onLoss { [record = story.record] in [record] }
      _ = try runProgram(["rm", folder.path + "/state.db"])
      _ = try await eventually("the problem", on: loop) { problems.all.isEmpty ? nil : true }
      #expect(problems.all.first?.problem.contains("taken away") == true)
      store.record(story.turn())
      await store.settled(on: loop)
      await store.closeCleanly([story.record], on: loop)
      let next = StateStore.testing(folder.path, [story.target], on: loop)
      #expect(next.takeRestored()["db"]?.sequence == 2)
      await next.abandon(on: loop)
    }
  }

  @Test("a disk that does not answer lets nothing wait longer than the patience")
  func silentDisk() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      var story = Story("db")
      let store = StateStore.testing(folder.path, [story.target], on: loop) { $0.patience = .milliseconds(20) }
      // Somebody else's transaction keeps ours waiting, as a slow disk would.
      let other = try Database(folder.path + "/state.db", .readWrite)
      try other.execute("BEGIN IMMEDIATE")
      store.record(story.turn())
      await store.settled(on: loop)
      #expect(try other.number("SELECT count(*) FROM targets") == 0)
      try other.execute("ROLLBACK")
      await store.closeCleanly([story.record], on: loop)
    }
  }
}
