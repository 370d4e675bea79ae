internal import ReachCore
internal import Testing

@Suite struct InstantTests {
  private let early = Instant(nanoseconds: 1_000)

  @Test("A point that much later is that much since")
  func arithmetic() {
    let later = early.advanced(by: .milliseconds(250))
    #expect(later.nanoseconds == 250_001_000)
    #expect(later.since(early) == .milliseconds(250))
    #expect(early.since(later) == .milliseconds(-250))
    #expect(later.nanoseconds(since: early) == 250_000_000)
    #expect(later.advanced(byNanoseconds: -250_000_000) == early)
  }

  @Test("Points are in the order of time")
  func order() {
    #expect(early < early.advanced(byNanoseconds: 1))
    #expect(early < .distantFuture)
    #expect(Instant(nanoseconds: -1) < Instant(nanoseconds: 0))
  }

  @Test("At the ends of the range arithmetic stays there")
  func saturation() {
    let first = Instant(nanoseconds: .min)
    let last = Instant.distantFuture
    #expect(last.advanced(byNanoseconds: 1) == last)
    #expect(first.advanced(byNanoseconds: -1) == first)
    #expect(first.advanced(byNanoseconds: .min) == first)
    #expect(early.advanced(by: .seconds(Int64.max)) == last)
    #expect(Instant(nanoseconds: -1).advanced(by: .seconds(Int64.min)) == first)
    #expect(last.nanoseconds(since: first) == .max)
    #expect(first.nanoseconds(since: last) == .min)
    #expect(last.nanoseconds(since: Instant(nanoseconds: -1)) == .max)
    #expect(Instant(nanoseconds: 0).nanoseconds(since: first) == .max)
  }

  @Test("A duration's nanoseconds are whole, rounded towards zero, and saturate")
  func durations() {
    #expect(Duration.milliseconds(1_500).nanoseconds == 1_500_000_000)
    #expect(Duration.milliseconds(-1_500).nanoseconds == -1_500_000_000)
    #expect(Duration(secondsComponent: 0, attosecondsComponent: 1_999_999_999).nanoseconds == 1)
    #expect(Duration(secondsComponent: 0, attosecondsComponent: -1_999_999_999).nanoseconds == -1)
    #expect(Duration.seconds(Int64.max).nanoseconds == .max)
    #expect(Duration.seconds(Int64.min).nanoseconds == .min)
    #expect(Duration.nanoseconds(Int64.max).nanoseconds == .max)
  }

  @Test("A duration in seconds is what Prometheus wants")
  func seconds() {
    #expect(Duration.milliseconds(1_500).inSeconds == 1.5)
    #expect(Duration.zero.inSeconds == 0)
  }
}
