import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachState

@Suite(.timeLimit(.minutes(4)))
struct TransitionHistoryTests {
  private static func kept(_ folder: TestFolder, target: String? = nil, since: Int64? = nil) throws -> [Transition] {
    var found: [Transition] = []
    try TransitionHistory.read(directory: folder.path, target: target, since: since) { found.append($0) }
    return found
  }

  @Test("it is read in its order, of one target and from a time on, while the agent runs and after")
  func reading() async throws {
    let folder = try TestFolder()
    try await withEventLoop { loop in
      var stories = ["a", "b"].map { Story($0) }
      let store = StateStore.testing(folder.path, stories.map(\.target), on: loop)
      var all: [Transition] = []
      for step in 0..<10 {
        let change = stories[step % 2].turn(at: Int64(step) * 1_000)
        store.record(change)
        if let transition = change.transition { all.append(transition) }
      }
      await store.settled(on: loop)
      for _ in 0..<2 {
        let found = [
          try Self.kept(folder), try Self.kept(folder, target: "b"), try Self.kept(folder, since: 5_000),
          try Self.kept(folder, target: "nobody"),
        ]
        #expect(found == [all, all.filter { $0.target == "b" }, all.filter { $0.at >= 5_000 }, []])
        await store.closeCleanly(stories.map(\.record), on: loop)
      }
      // Reading leaves nothing beside a database that nobody uses.
      #expect(unsafe access(folder.path + "/state.db-wal", F_OK) != 0)
      #expect(unsafe access(folder.path + "/state.db-shm", F_OK) != 0)
    }
  }

  @Test("where there is nothing to read it says why")
  func nothing() throws {
    let folder = try TestFolder()
    let missing = #expect(throws: HistoryError.self) { try Self.kept(folder) }
    #expect(missing?.description.contains("no state in \(folder.path)") == true)
    try folder.write("nonsense, and enough of it to be no header", to: "state.db")
    let broken = #expect(throws: HistoryError.self) { try Self.kept(folder) }
    #expect(broken?.description.contains("damaged") == true, "\(String(describing: broken))")
  }

  @Test("a transition is written as the interface documents it")
  func shape() {
    let transition = Transition(
      sequence: 7, at: 1_500_000_000, target: "db \"x\"", from: .reachableViaWiFi, to: .notReachable, flags: [],
      layer: "tcp", reason: "tcp_timeout", interface: "eth0", medium: "wired", inPrevious: .milliseconds(2_500))
    var json = JSONWriter()
    transition.write(to: &json)
    #expect(
      String(decoding: json.bytes, as: UTF8.self) == """
        {"sequence":7,"at":"1970-01-01T00:00:01.500000Z","target":"db \\"x\\"","from":"ReachableViaWiFi",\
        "to":"NotReachable","flags":"-- -------","flags_value":0,"layer":"tcp","reason":"tcp_timeout",\
        "cause_id":null,"interface":"eth0","medium":"wired","in_previous_seconds":2.5}
        """)
    let unknown = Transition(
      sequence: 8, at: 0, target: "db", from: .notReachable, to: .unknown, flags: nil, layer: "local",
      reason: "probe_error:EMFILE", causeID: "link:eth0#3")
    var other = JSONWriter()
    unknown.write(to: &other)
    let text = String(decoding: other.bytes, as: UTF8.self)
    #expect(text.contains("\"flags\":null,\"flags_value\":null"))
    #expect(
      text.contains("\"cause_id\":\"link:eth0#3\",\"interface\":\"\",\"medium\":\"\",\"in_previous_seconds\":null"))
  }
}
