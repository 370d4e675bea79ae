import ReachCore
import ReachScheduler
import Testing

@Suite struct ChangeWindowTests {
  private var window = ChangeWindow(at: Self.at(0))

  private static func at(_ milliseconds: Int64) -> Instant { Instant(nanoseconds: milliseconds * 1_000_000) }

  /// Plays changes at these times, with looks that take no time. Returns when looks that a change led to began.
  private func looks(at changes: [Int64], until end: Int64 = 20_000, taking length: Int64 = 0) -> [Int64] {
    var window = window
    var looks: [Int64] = []
    var changes = changes[...]
    for now in 0...end {
      while changes.first == now {
        window.note(at: Self.at(now))
        changes = changes.dropFirst()
      }
      if let hasChanged = window.begin(at: Self.at(now)) {
        if hasChanged { looks.append(now) }
        window.end(at: Self.at(now + length))
      }
    }
    return looks
  }

  @Test("a change out of the quiet is looked at at once")
  func leadingEdge() { #expect(looks(at: [5000, 9000]) == [5000, 9000]) }

  @Test("what follows closely is merged into one look, a settling time after the last of it")
  func trailingEdge() { #expect(looks(at: [1000, 1001, 1040, 1090]) == [1000, 1190]) }

  @Test("a burst that goes on is looked at once a second, and once it is over")
  func cap() {
    let changes = stride(from: Int64(1000), through: 4000, by: 20)
    #expect(looks(at: Array(changes)) == [1000, 2020, 3040, 4060])
  }

  @Test("fifty changes in a burst lead to a look at its start and one at its end")
  func flaps() { #expect(looks(at: (0..<50).map { 1000 + $0 * 2 }) == [1000, 1198]) }

  @Test("without a change there is a look after the time of rest")
  func rest() {
    var window = window
    #expect(window.due == Self.at(30_000))
    #expect(window.begin(at: Self.at(29_999)) == nil)
    #expect(window.begin(at: Self.at(30_000)) == false)
    #expect(window.due == nil, "none is due while one goes on")
    window.end(at: Self.at(30_001))
    #expect(window.due == Self.at(60_000))
  }

  @Test("looks that take long are spaced out, so that they take a quarter of the time at most")
  func longLooks() {
    let changes = stride(from: Int64(1000), through: 10_000, by: 150)
    let looks = looks(at: Array(changes), taking: 100)
    #expect(looks.count <= 24)
    #expect(zip(looks, looks.dropFirst()).allSatisfy { $1 - $0 >= 400 })
  }

  @Test("a change that comes while a look goes on is looked at afterwards")
  func duringLook() {
    var window = window
    window.note(at: Self.at(1000))
    #expect(window.begin(at: Self.at(1000)) == true)
    window.note(at: Self.at(1003))
    #expect(window.begin(at: Self.at(1200)) == nil)
    window.end(at: Self.at(1005))
    #expect(window.due == Self.at(1103))
  }

  @Test("the end of the clock's range is no trap")
  func extremes() {
    var window = ChangeWindow(at: Instant(nanoseconds: .max - 5))
    window.note(at: .distantFuture)
    #expect(window.begin(at: .distantFuture) == true)
    window.end(at: Instant(nanoseconds: .min))
    window.note(at: Instant(nanoseconds: .min))
    #expect(window.due != nil)
  }
}
