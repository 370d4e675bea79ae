import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachState

@Suite(.timeLimit(.minutes(4)))
struct TrimmingTests {
  private static let day: Int64 = 86_400_000_000_000
  private static let now: Int64 = 20_000 * day

  private func database(_ folder: TestFolder, _ count: Int, at wall: (Int) -> Int64) throws -> StateDatabase {
    let database = try StateDatabase(StateFolder(path: folder.path))
    try database.beginRun(watching: [], boot: "one", at: Self.now)
    var story = Story("db")
    try database.write((0...count).map { story.turn(at: wall($0)) })
    return database
  }

  /// Trims to the end and returns the kept transitions, oldest first, with the most that one step deleted.
  private func trim(_ database: StateDatabase, _ settings: StateSettings) throws -> (kept: [UInt64], most: Int) {
    var counts = [try database.newest(.max, of: nil).count]
    while try database.trim(to: settings, at: Self.now) { counts.append(try database.newest(.max, of: nil).count) }
    let most = zip(counts, counts.dropFirst()).map { $0 - $1 }.max() ?? 0
    return (try database.newest(.max, of: nil).map(\.sequence).reversed(), most)
  }

  @Test("what is older than the age is deleted, a few at a time")
  func age() throws {
    let folder = try TestFolder()
    let database = try database(folder, 1_500) { Self.now - Int64(1_500 - $0) * Self.day / 10 }
    let (kept, most) = try trim(database, StateSettings())
    #expect(kept == Array(601...1_501))
    #expect(most <= 500)
  }

  @Test("what is too much is deleted from the oldest on")
  func count() throws {
    let folder = try TestFolder()
    let database = try database(folder, 1_500) { _ in Self.now }
    var settings = StateSettings()
    settings.transitions = 100
    #expect(try trim(database, settings).kept == Array(1_402...1_501))
  }

  @Test("a database that is too large gives pages back")
  func size() throws {
    let folder = try TestFolder()
    let database = try database(folder, 5_000) { _ in Self.now }
    let before = try database.database.number("PRAGMA page_count") ?? 0
    var settings = StateSettings()
    settings.bytes = 256 * 1024
    let kept = try trim(database, settings).kept
    #expect(kept.last == 5_001)
    #expect(kept.count > 500)
    let after = try database.database.number("PRAGMA page_count") ?? 0
    #expect(after < before / 2)
  }

  @Test("a target is forgotten once it has no transition and nobody has watched it for the whole time")
  func targets() throws {
    let folder = try TestFolder()
    let database = try database(folder, 10) { _ in Self.now - 200 * Self.day }
    try database.beat(at: Self.now - 100 * Self.day)
    try database.beginRun(watching: [], boot: "one", at: Self.now)
    #expect(try database.targets(["db"]).count == 1)
    #expect(try trim(database, StateSettings()).kept == [])
    #expect(try database.targets(["db"]).isEmpty)
    #expect(try database.database.number("SELECT count(*) FROM runs") == 1)
  }

  @Test("a clock that stands wrong deletes nothing but what it says is old")
  func clock() throws {
    let folder = try TestFolder()
    let database = try database(folder, 10) { _ in Self.now }
    #expect(try database.trim(to: StateSettings(), at: .min) == false)
    #expect(try database.trim(to: StateSettings(), at: 0) == false)
    #expect(try database.newest(.max, of: nil).count == 10)
  }
}
