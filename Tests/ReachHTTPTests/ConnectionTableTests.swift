import ReachCore
import Testing

@testable import ReachHTTP

@Suite struct ConnectionTableTests {
  static func limits(connections: UInt32 = 4) -> HTTPLimits {
    var limits = HTTPLimits()
    limits.connections = connections
    limits.idle = .seconds(75)
    limits.request = .seconds(15)
    limits.answer = .seconds(30)
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
    #expect(table.requestEnded(1, at: Self.at(2)) == nil)
    #expect(table.overdue(at: Self.at(76)).isEmpty)
    #expect(table.overdue(at: Self.at(77)) == [11])
    table.requestBegan(1, at: Self.at(70))
    #expect(table.overdue(at: Self.at(84)).isEmpty)
    #expect(table.overdue(at: Self.at(85)) == [11])
  }

  @Test("a reader that makes room now and then is left alone, and one that no longer does is not")
  func readers() {
    var table = ConnectionTable(limits: Self.limits())
    _ = table.began(1, socket: 11, at: Self.at(0))
    table.requestBegan(1, at: Self.at(0))
    table.answerBegan(1, at: Self.at(0))
    #expect(table.answers == 1)
    for lump in 0..<100 {
      table.took(1, at: Self.at(29 * lump))
      #expect(table.overdue(at: Self.at(29 * lump + 28)).isEmpty)
    }
    #expect(table.overdue(at: Self.at(29 * 99 + 29)).isEmpty)
    #expect(table.overdue(at: Self.at(29 * 99 + 30)) == [11])
    // It stays overdue until it is gone.
    #expect(table.overdue(at: Self.at(29 * 99 + 31)) == [11])
    table.ended(1)
    #expect(table.overdue(at: Self.at(29 * 99 + 31)).isEmpty && table.count == 0)
  }

  @Test("room that is made outside of an answer is no progress of anything")
  func strayProgress() {
    var table = ConnectionTable(limits: Self.limits())
    _ = table.began(1, socket: 11, at: Self.at(0))
    table.took(1, at: Self.at(14))
    #expect(table.answers == 0 && table.overdue(at: Self.at(15)) == [11])
  }

  @Test("a connection that becomes idle while all places are taken makes way at once")
  func becomesIdle() {
    var table = ConnectionTable(limits: Self.limits(connections: 2))
    for key in [1, 2] as [UInt] {
      #expect(table.began(key, socket: Int32(key), at: Self.at(0)) == nil)
      table.answerBegan(key, at: Self.at(0))
    }
    #expect(table.requestEnded(2, at: Self.at(1)) == 2)
  }

  @Test("when all places are taken, a third of the time must do")
  func haste() {
    var table = ConnectionTable(limits: Self.limits(connections: 3))
    _ = table.began(1, socket: 1, at: Self.at(0))
    _ = table.began(2, socket: 2, at: Self.at(0))
    table.answerBegan(2, at: Self.at(0))
    #expect(table.overdue(at: Self.at(14)).isEmpty)
    _ = table.began(3, socket: 3, at: Self.at(8))
    #expect(table.isFull)
    #expect(table.overdue(at: Self.at(9)) == [1], "5 s for a request")
    #expect(table.overdue(at: Self.at(10)).sorted() == [1, 2], "10 s for an answer")
    table.ended(3)
    #expect(table.overdue(at: Self.at(10)).isEmpty)
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
    #expect(table.requestEnded(2, at: Self.at(5)) == nil)
    #expect(table.requestEnded(1, at: Self.at(6)) == nil)
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
    table.took(9, at: Self.at(0))
    #expect(table.requestEnded(9, at: Self.at(0)) == nil)
    table.ended(9)
    #expect(table.count == 0 && table.overdue(at: Self.at(1000)).isEmpty)
  }
}
