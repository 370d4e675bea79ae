import ReachCore
import Testing

@testable import ReachHTTP

@Suite struct HandshakePaceTests {
  @Test("a bucket gives its burst at once, and then one in each interval, however long nobody came")
  func bucket() {
    var bucket = TokenBucket(interval: .seconds(2), burst: 3)
    var now = Instant(nanoseconds: 5_000_000_000)
    #expect((0..<5).map { _ in bucket.take(at: now) } == [true, true, true, false, false])
    #expect(bucket.nextToken.since(now) == .seconds(2))
    now = now.advanced(by: .seconds(2))
    #expect((0..<2).map { _ in bucket.take(at: now) } == [true, false])
    now = now.advanced(by: .seconds(1_000))
    #expect((0..<4).map { _ in bucket.take(at: now) } == [true, true, true, false])
  }

  @Test("no number makes a bucket trap")
  func extremes() {
    for interval in [Duration.zero, .nanoseconds(1), .seconds(3_000_000_000)] {
      for burst in [Int.min, 0, 1, Int.max] {
        var bucket = TokenBucket(interval: interval, burst: burst)
        for now in [Int64.min, 0, .max] { _ = bucket.take(at: Instant(nanoseconds: now)) }
      }
    }
  }

  @Test("in one turn of the loop one handshake begins, and in a second no more than the certificate's key allows")
  func pace() {
    for (interval, most) in [(10, 100), (160, 7)] {
      var pace = HandshakePace()
      let start = Instant(nanoseconds: 1_000_000_000)
      var begun = 0
      for turn in 1...2_000 {
        let now = start.advanced(byNanoseconds: Int64(turn) * 500_000)
        var begunInTurn = 0
        for _ in 0..<10 where pace.mayBegin(at: now, inTurn: UInt64(turn), every: .milliseconds(interval)) {
          begunInTurn += 1
        }
        #expect(begunInTurn <= 1)
        begun += begunInTurn
      }
      #expect((HandshakePace.burst...HandshakePace.burst + most).contains(begun))
    }
  }
}
