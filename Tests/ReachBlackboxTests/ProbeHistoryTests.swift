import ReachBlackbox
import Testing

@Suite struct ProbeHistoryTests {
  private func add(_ history: inout ProbeHistory, _ target: String, _ isSuccess: Bool, size: Int = 10) {
    history.add(
      module: "m", target: target, isSuccess: isSuccess, at: 0, page: String(repeating: "x", count: size))
  }

  @Test("the last probes are kept, and the failures among those that have gone")
  func count() {
    var history = ProbeHistory(count: 3)
    for number in 1...4 { add(&history, "f\(number)", false) }
    for number in 1...5 { add(&history, "s\(number)", true) }
    #expect(history.entries.map(\.target) == ["s5", "s4", "s3", "f4", "f3", "f2"])
    #expect(history.entries.map(\.number) == [9, 8, 7, 4, 3, 2])
    #expect(history.entry(4)?.target == "f4" && history.entry(1) == nil)
  }

  @Test("the newest probe of a target is found, whether it failed or not")
  func newest() {
    var history = ProbeHistory(count: 2)
    add(&history, "a", false)
    add(&history, "a", true)
    #expect(history.newest(of: "a")?.number == 2)
    for _ in 0..<3 { add(&history, "b", true) }
    #expect(history.newest(of: "a")?.number == 1)
    #expect(history.newest(of: "c") == nil)
  }

  @Test("no number of large pages takes more than its bytes, and successes go first")
  func bytes() {
    var history = ProbeHistory(count: 100, bytes: 10_000)
    add(&history, "f", false, size: 4_000)
    for number in 0..<50 { add(&history, "s\(number)", true, size: 1_000) }
    #expect(history.entries.reduce(0) { $0 + $1.page.utf8.count } <= 10_000)
    #expect(history.newest(of: "f") != nil)
    #expect(history.entries.first?.target == "s49")
    add(&history, "large", true, size: 100_000)
    #expect(history.entries.map(\.target) == ["large"])
  }
}
