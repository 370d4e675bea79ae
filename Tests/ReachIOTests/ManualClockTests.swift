import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct ManualClockTests {
  @Test("stepping through an hour fires a timer that sets itself again every minute, at its minute")
  func periodic() async throws {
    let clock = ManualClock(start: Instant(nanoseconds: 0))
    let minutes = try await withEventLoop(clock: clock) { loop in
      let fired = LoopConfined<[Int64]>([], on: loop)
      let task = loop.spawn {
        while await loop.sleep(until: loop.now().advanced(by: .seconds(60))) == .deadline {
          fired.withState { $0.append(loop.now().nanoseconds / 60_000_000_000) }
        }
      }
      await clock.advance(by: .seconds(3600), on: loop)
      task.cancel()
      return fired.withState { $0 }
    }
    #expect(minutes == Array(1...60))
  }

  @Test("a leap from another thread wakes the loop, and the timers passed over fire in order")
  func leap() async throws {
    let clock = ManualClock()
    let order = try await withEventLoop(clock: clock) { loop in
      let fired = LoopConfined<[Int]>([], on: loop)
      for seconds in [30, 10, 20] {
        loop.schedule(at: loop.now().advanced(by: .seconds(seconds))) { fired.withState { $0.append(seconds) } }
      }
      let last = loop.now().advanced(by: .seconds(40))
      Task.detached { clock.advance(by: .seconds(100)) }
      await loop.sleep(until: last)
      return fired.withState { $0 }
    }
    #expect(order == [10, 20, 30])
  }

  @Test("nothing fires while the clock stands still, and nothing goes backwards")
  func standsStill() async throws {
    let clock = ManualClock()
    let fired = try await withEventLoop(clock: clock) { loop in
      let fired = LoopConfined(false, on: loop)
      loop.schedule(at: loop.now().advanced(byNanoseconds: 1)) { fired.withState { $0 = true } }
      clock.advance(by: .seconds(-5))
      await loop.settle()
      return fired.withState { $0 }
    }
    #expect(!fired)
    #expect(clock.now() == Instant(nanoseconds: 1_000_000_000))
  }

  @Test("an advance past the end of time stays there")
  func saturates() {
    let clock = ManualClock()
    clock.advance(by: .seconds(Int64.max))
    clock.advance(by: .seconds(Int64.max))
    #expect(clock.now() == .distantFuture)
  }

  @Test("a loop settles only when jobs that spawn jobs have all run")
  func settles() async throws {
    let depth = try await withEventLoop(clock: ManualClock()) { loop in
      let depth = LoopConfined(0, on: loop)
      @Sendable func deeper() {
        let reached = depth.withState { value in
          value += 1
          return value
        }
        if reached < 100 { loop.spawn { deeper() } }
      }
      deeper()
      await loop.settle()
      return depth.withState { $0 }
    }
    #expect(depth == 100)
  }
}
