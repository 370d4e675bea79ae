import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import ReachAgent

@Suite(.timeLimit(.minutes(4))) struct SlowLookTests {
  @Test("it looks every thirty seconds until it is let go")
  func looks() async throws {
    let clock = ManualClock()
    try await withEventLoop(clock: clock) { loop in
      let looks = LoopConfined(0, on: loop)
      var slowLook: SlowLook? = SlowLook(on: loop) { looks.withState { $0 += 1 } }
      await clock.advance(by: .seconds(95), on: loop)
      #expect(looks.withState { $0 } == 3)
      withExtendedLifetime(slowLook) {}
      slowLook = nil
      await clock.advance(by: .seconds(95), on: loop)
      #expect(looks.withState { $0 } == 3)
      #expect(loop.pendingTimers == 0)
    }
  }
}
