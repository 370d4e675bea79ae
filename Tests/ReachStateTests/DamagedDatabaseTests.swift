import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachState

/// Files that are not what they should be. Whatever is in them, the store opens, says at most one thing, keeps what comes
/// and deletes nothing.
@Suite(.timeLimit(.minutes(4)))
struct DamagedDatabaseTests {
  /// A small database, as an agent leaves it; with its log beside it, as a killed one does.
  private static func stage(_ folder: TestFolder, isKilled: Bool = false, on loop: EventLoop) async throws -> Story {
    var story = Story("db")
    let store = StateStore.testing(folder.path, [story.target], on: loop)
    for _ in 0..<40 { store.record(story.turn()) }
    await store.settled(on: loop)
    if isKilled {
      // What a kill leaves is what is there while the agent runs.
      for name in ["state.db", "state.db-wal"] {
        try write(try bytes(of: folder.path + "/" + name), to: folder.path + "/kept-" + name)
      }
    }
    await store.abandon(on: loop)
    if isKilled {
      for name in ["state.db", "state.db-wal"] {
        _ = unsafe rename(folder.path + "/kept-" + name, folder.path + "/" + name)
      }
    }
    return story
  }

  /// Opens what is there, records something, and checks that it can be read again.
  private static func check(_ folder: TestFolder, _ story: Story, on loop: EventLoop) async throws -> RestoredTarget? {
    let before = try files(in: folder)
    let problems = Problems(loop)
    let store = StateStore.testing(folder.path, [story.target], on: loop, problems: problems)
    #expect(store.isPersistent, "\(problems.all)")
    #expect(problems.all.count <= 1)
    let restored = store.takeRestored()[story.target.name]
    var next = restored.map { Story(story.target, from: $0) } ?? Story(story.target.name)
    store.onLoss { [record = next.record] in [record] }
    store.record(next.turn())
    let change = next.turn()
    store.record(change)
    await store.settled(on: loop)
    #expect(await store.newest(1, on: loop)?.first == change.transition)
    await store.closeCleanly([next.record], on: loop)
    // A set aside file stands beside the new one.
    let after = try files(in: folder)
    if !problems.all.isEmpty {
      #expect(after.count > before.filter { !$0.contains("-wal") && !$0.contains("-shm") }.count)
    }
    let again = StateStore.testing(folder.path, [story.target], on: loop, problems: problems)
    #expect(again.takeRestored()[story.target.name]?.sequence == next.state.sequence, "\(problems.all)")
    await again.abandon(on: loop)
    return restored
  }

  @Test("a database that is cut anywhere is read or set aside")
  func truncated() async throws {
    let source = try TestFolder()
    try await withEventLoop { loop in
      let story = try await Self.stage(source, on: loop)
      let whole = try Self.bytes(of: source.path + "/state.db")
      for length in stride(from: 0, through: whole.count, by: 1_021) {
        let folder = try TestFolder()
        try Self.write(Array(whole[..<length]), to: folder.path + "/state.db")
        let restored = try await Self.check(folder, story, on: loop)
        if length == whole.count { #expect(restored?.sequence == 40) }
      }
    }
  }

  @Test("a log that is cut anywhere, or in which bytes are wrong, loses the end of what was kept and no more")
  func tornLog() async throws {
    let source = try TestFolder()
    try await withEventLoop { loop in
      let story = try await Self.stage(source, isKilled: true, on: loop)
      let database = try Self.bytes(of: source.path + "/state.db")
      let log = try Self.bytes(of: source.path + "/state.db-wal")
      #expect(log.count > 10_000)
      var random = Generator(state: 11)
      for step in 0..<40 {
        let folder = try TestFolder()
        try Self.write(database, to: folder.path + "/state.db")
        var torn = log
        if step % 2 == 0 {
          torn.removeLast(Int(random.next() % UInt64(log.count)))
        } else {
          for _ in 0..<4 { torn[Int(random.next() % UInt64(log.count))] ^= UInt8(1 + random.next() % 255) }
        }
        try Self.write(torn, to: folder.path + "/state.db-wal")
        let restored = try await Self.check(folder, story, on: loop)
        #expect(restored?.sequence ?? 0 <= 40)
      }
    }
  }

  @Test("a database with wrong bytes anywhere is read or set aside")
  func flipped() async throws {
    let source = try TestFolder()
    try await withEventLoop { loop in
      let story = try await Self.stage(source, on: loop)
      let whole = try Self.bytes(of: source.path + "/state.db")
      var random = Generator(state: 7)
      for _ in 0..<120 {
        let folder = try TestFolder()
        var damaged = whole
        for _ in 0..<(1 + random.next() % 24) {
          damaged[Int(random.next() % UInt64(whole.count))] = UInt8(truncatingIfNeeded: random.next())
        }
        try Self.write(damaged, to: folder.path + "/state.db")
        _ = try await Self.check(folder, story, on: loop)
      }
    }
  }

  @Test(
    "what is no database of ours is set aside whole, with one problem that names it",
    arguments: [
      ("text", "not a database"), ("later", "a later version of reachd"), ("other", "another program"),
      ("tables", "tables are not those"), ("zero", "not a database"),
    ])
  func foreign(kind: String, words: String) async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let path = folder.path + "/state.db"
      switch kind {
      case "text": try folder.write(String(repeating: "this is no database\n", count: 300), to: "state.db")
      case "zero": try Self.write([UInt8](repeating: 0, count: 8_192), to: path)
      default:
        let database = try Database(path, .readWrite)
        try database.execute("CREATE TABLE things(id INTEGER); INSERT INTO things VALUES(7)")
        if kind != "other" { try database.execute("PRAGMA application_id=\(StateDatabase.applicationID)") }
        try database.execute(
          "PRAGMA user_version=\(kind == "later" ? StateDatabase.version + 1 : StateDatabase.version)")
      }
      let before = try Self.bytes(of: path)
      let problems = Problems(loop)
      let store = StateStore.testing(folder.path, [], on: loop, problems: problems)
      #expect(store.isPersistent)
      #expect(problems.all.count == 1)
      #expect(problems.all.first?.problem.contains(words) == true, "\(problems.all)")
      let aside = try #require(try Self.files(in: folder).first { $0.hasPrefix("state.db.aside-") })
      #expect(problems.all.first?.problem.contains(folder.path + "/" + aside) == true)
      #expect(try Self.bytes(of: folder.path + "/" + aside) == before)
      await store.abandon(on: loop)
    }
  }

  @Test("a database that goes bad while it is used is set aside, and every target is kept anew")
  func damagedWhileRunning() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let problems = Problems(loop)
      var stories = (0..<300).map { Story("target \($0)") }
      let targets = stories.map(\.target)
      let store = StateStore.testing(folder.path, targets, on: loop, problems: problems)
      for index in stories.indices {
        for _ in 0..<5 { store.record(stories[index].turn()) }
      }
      await store.settled(on: loop)
      let records = stories.map(\.record)
      store.onLoss { records }
      // The log is written back at the end of this other agent's connection, so that what is spoilt is read.
      let path = folder.path + "/state.db"
      try Database(path, .readWrite).execute("PRAGMA wal_checkpoint(TRUNCATE)")
      let size = try Self.bytes(of: path).count
      try Self.overwrite(path, from: 4_096, count: size - 4_096)
      _ = try await eventually("the problem", on: loop) {
        let change = stories[0].turn()
        store.record(change)
        await store.settled(on: loop)
        return problems.all.isEmpty ? nil : true
      }
      #expect(problems.all.first?.problem.contains("was set aside as") == true, "\(problems.all)")
      await store.closeCleanly(stories.map(\.record), on: loop)
      #expect(try Self.files(in: folder).contains { $0.hasPrefix("state.db.aside-") })
      let next = StateStore.testing(folder.path, targets, on: loop)
      let restored = next.takeRestored()
      #expect(restored.count == 300)
      #expect(restored["target 7"]?.sequence == 5)
      await next.abandon(on: loop)
    }
  }

  @Test("a disk that spoils one file after the other is not filled with what is set aside")
  func spoiledAgain() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      let problems = Problems(loop)
      var story = Story("db")
      let store = StateStore.testing(folder.path, [story.target], on: loop, problems: problems)
      store.record(story.turn())
      await store.settled(on: loop)
      for round in 1...2 {
        let path = folder.path + "/state.db"
        try Database(path, .readWrite).execute("PRAGMA wal_checkpoint(TRUNCATE)")
        try Self.overwrite(path, from: 4_096, count: try Self.bytes(of: path).count - 4_096)
        _ = try await eventually("problem \(round)", on: loop) {
          store.record(story.turn())
          await store.settled(on: loop)
          return problems.all.count >= round ? true : nil
        }
      }
      for _ in 0..<20 {
        store.record(story.turn())
        await store.settled(on: loop)
      }
      #expect(try Self.files(in: folder).count { $0.hasPrefix("state.db.aside-") && !$0.contains("-wal") } <= 2)
      #expect(problems.all.count == 2)
      await store.abandon(on: loop)
    }
  }

  // MARK: Files

  private static func bytes(of path: String) throws -> [UInt8] {
    let file = Descriptor(owning: try retryingInterrupts("open") { unsafe open(path, O_RDONLY | O_CLOEXEC) })
    var bytes: [UInt8] = []
    var piece = [UInt8](repeating: 0, count: 65_536)
    while true {
      let count = unsafe read(file.number, &piece, piece.count)
      guard count > 0 else { return bytes }
      bytes += piece[..<count]
    }
  }

  private static func write(_ bytes: [UInt8], to path: String) throws {
    let file = Descriptor(
      owning: try retryingInterrupts("open") {
        unsafe open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
      })
    _ = try retryingInterrupts("write") { unsafe Glibc.write(file.number, bytes, bytes.count) }
  }

  private static func overwrite(_ path: String, from offset: Int, count: Int) throws {
    let file = Descriptor(owning: try retryingInterrupts("open") { unsafe open(path, O_WRONLY | O_CLOEXEC) })
    let noise = [UInt8](repeating: 0xa5, count: count)
    _ = try retryingInterrupts("pwrite") { unsafe pwrite(file.number, noise, count, off_t(offset)) }
  }

  private static func files(in folder: TestFolder) throws -> [String] {
    try runProgram(["ls", "-A", folder.path]).output.split(separator: "\n").map(String.init)
  }
}

/// Numbers that are the same each time (SplitMix64).
struct Generator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var word = state
    word = (word ^ (word >> 30)) &* 0xbf58_476d_1ce4_e5b9
    word = (word ^ (word >> 27)) &* 0x94d0_49bb_1331_11eb
    return word ^ (word >> 31)
  }
}
