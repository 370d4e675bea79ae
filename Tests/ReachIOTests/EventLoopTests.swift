import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@Suite struct EventLoopTests {
  @Test("a task spawned on the loop stays on its thread across sleeps", .timeLimit(.minutes(1)))
  func staysOnLoop() async throws {
    let kept = try await withEventLoop { loop in
      var kept = loop.isCurrent
      for _ in 0..<3 {
        await loop.sleep(until: loop.now().advanced(by: .milliseconds(1)))
        kept = kept && loop.isCurrent
      }
      return kept
    }
    #expect(kept)
  }

  @Test("a wait on a descriptor ends with its readiness, or with the deadline", .timeLimit(.minutes(1)))
  func waits() async throws {
    let outcomes = try await withEventLoop { loop in
      var ends: [Int32] = [0, 0]
      _ = unsafe pipe(&ends)
      defer { for end in ends { close(end) } }
      let late = try await loop.wait(on: ends[0], for: .readable, until: loop.now().advanced(by: .milliseconds(5)))
      _ = unsafe write(ends[1], "x", 1)
      let ready = try await loop.wait(on: ends[0], for: .readable, until: .distantFuture)
      return [late, ready]
    }
    #expect(outcomes == [.deadline, .ready(.readable)])
  }
}
