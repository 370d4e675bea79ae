import ReachCore
import Testing

@testable import ReachHTTP

@Suite struct ConnectionTableTests {
  static func limits(connections: UInt32 = 4) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = connections
    limits.idle = .seconds(75)
    limits.request = .seconds(15)
    limits.answerPeriod = .seconds(30)
    limits.answerBytes = 1000
    return limits
  }

  static func at(_ seconds: Int) -> Instant { Instant(nanoseconds: 0).advanced(by: .seconds(seconds)) }

  @Test("a fresh connection has the time of a request, from its beginning on")
  func fresh() {
    var table = ConnectionTable(limits: Self.limits())
    #expect(table.began(1, socket: 11, at: Self.at(0)) == nil)
    #expect(table.overdue(at: Self.at(14)).isEmpty)
    table.requestBegan(1, at: Self.at(14))
    #expect(table.overdue(at: Self.at(14)).isEmpty)
    #expect(table.overdue(at: Self.at(15)) == [11])
  }

  @Test("a connection that was answered may be idle for longer, but its next request must be as quick")
  func idle() {
    var table = ConnectionTable(limits: Self.limits())
    _ = table.began(1, socket: 11, at: Self.at(0))
    table.requestBegan(1, at: Self.at(0))
    table.answerBegan(1, at: Self.at(1))
    table.requestEnded(1, at: Self.at(2))
    #expect(table.overdue(at: Self.at(76)).isEmpty)
    #expect(table.overdue(at: Self.at(77)) == [11])
    table.requestBegan(1, at: Self.at(70))
    #expect(table.overdue(at: Self.at(84)).isEmpty)
    #expect(table.overdue(at: Self.at(85)) == [11])
  }

  @Test("a reader that takes enough in each period is left alone, and one that no longer does is not")
  func readers() {
    var table = ConnectionTable(limits: Self.limits())
    _ = table.began(1, socket: 11, at: Self.at(0))
    table.requestBegan(1, at: Self.at(0))
    table.answerBegan(1, at: Self.at(0))
    #expect(table.answers == 1)
    for period in 1...100 {
      table.took(1, bytes: 500)
      table.took(1, bytes: 500)
      #expect(table.overdue(at: Self.at(30 * period - 1)).isEmpty)
      #expect(table.overdue(at: Self.at(30 * period)).isEmpty)
    }
    table.took(1, bytes: 999)
    #expect(table.overdue(at: Self.at(3029)).isEmpty)
    #expect(table.overdue(at: Self.at(3030)) == [11])
    // It stays overdue until it is gone.
    #expect(table.overdue(at: Self.at(3031)) == [11])
    table.ended(1)
    #expect(table.overdue(at: Self.at(3032)).isEmpty && table.count == 0)
  }

  @Test("what an earlier answer brought does not count for the next")
  func nextAnswer() {
    var table = ConnectionTable(limits: Self.limits())
    _ = table.began(1, socket: 11, at: Self.at(0))
    table.answerBegan(1, at: Self.at(0))
    table.took(1, bytes: 1_000_000)
    table.requestEnded(1, at: Self.at(1))
    table.requestBegan(1, at: Self.at(1))
    table.answerBegan(1, at: Self.at(1))
    #expect(table.overdue(at: Self.at(31)) == [11])
  }

  @Test("whoever takes the last place makes the longest idle connection go, and no other")
  func makesWay() {
    var table = ConnectionTable(limits: Self.limits(connections: 3))
    for key in [1, 2] as [UInt] {
      #expect(table.began(key, socket: Int32(key), at: Self.at(0)) == nil)
      table.answerBegan(key, at: Self.at(0))
    }
    // Both are at work, and the third has not been answered yet.
    #expect(table.began(3, socket: 3, at: Self.at(1)) == nil)
    table.ended(3)
    table.requestEnded(2, at: Self.at(5))
    table.requestEnded(1, at: Self.at(6))
    #expect(table.began(4, socket: 4, at: Self.at(7)) == 2)
  }

  @Test("a request whose answer is promised has all the time, and its answer then the usual")
  func promised() {
    var table = ConnectionTable(limits: Self.limits())
    _ = table.began(1, socket: 11, at: Self.at(0))
    table.requestBegan(1, at: Self.at(0))
    table.answerPromised(1)
    #expect(table.answers == 1 && table.overdue(at: Self.at(1000)).isEmpty)
    table.answerBegan(1, at: Self.at(1000))
    #expect(table.overdue(at: Self.at(1029)).isEmpty)
    #expect(table.overdue(at: Self.at(1030)) == [11])
  }

  @Test("what is not known is not minded")
  func unknown() {
    var table = ConnectionTable(limits: Self.limits())
    table.requestBegan(9, at: Self.at(0))
    table.answerBegan(9, at: Self.at(0))
    table.took(9, bytes: 1)
    table.requestEnded(9, at: Self.at(0))
    table.ended(9)
    #expect(table.count == 0 && table.overdue(at: Self.at(1000)).isEmpty)
  }
}
