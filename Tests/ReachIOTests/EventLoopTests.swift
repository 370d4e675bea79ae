import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct EventLoopTests {
  @Test("a task spawned on the loop stays on its thread across sleeps")
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

  @Test("a wait on a descriptor ends with its readiness, or with the deadline")
  func waits() async throws {
    let outcomes = try await withEventLoop { loop in
      let pipe = try Pipe()
      let soon = loop.now().advanced(by: .milliseconds(5))
      let late = try await loop.wait(on: pipe.reading, for: .readable, until: soon)
      pipe.put()
      let ready = try await loop.wait(on: pipe.reading, for: .readable, until: .distantFuture)
      return [late, ready]
    }
    #expect(outcomes == [.deadline, .ready(.readable)])
  }

  @Test("jobs from many other threads all arrive, on the loop")
  func foreignJobs() async throws {
    let total = try await withEventLoop { loop in
      let count = LoopConfined(0, on: loop)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 {
          group.addTask { @concurrent in
            for _ in 0..<200 { await loop.spawn { count.withState { $0 += 1 } }.value }
          }
        }
      }
      return count.withState { $0 }
    }
    #expect(total == 1600)
  }

  @Test("an actor whose executor is the loop runs on it, called from anywhere")
  func actorOnLoop() async throws {
    let results = try await withEventLoop { loop in
      let resident = Resident(loop: loop)
      let fromOutside = await Task.detached { await resident.isOnLoop() }.value
      return [fromOutside, await resident.isOnLoop()]
    }
    #expect(results == [true, true])
  }

  @Test("stop ends the loop from another thread, and with it whatever still waits")
  func stop() async throws {
    await #expect(throws: LoopEndedEarly.self) {
      try await withEventLoop { loop in
        await Task.detached { loop.stop() }.value
        await loop.sleep(until: .distantFuture)
      }
    }
  }

  @Test("a timer that sets itself again at once leaves room for jobs and descriptors")
  func greedyTimer() async throws {
    let outcome = try await withEventLoop { loop in
      let isDone = LoopConfined(false, on: loop)
      @Sendable func again() { if !isDone.withState({ $0 }) { loop.schedule(at: loop.now()) { again() } } }
      again()
      let pipe = try Pipe()
      pipe.put()
      let outcome = try await loop.wait(on: pipe.reading, for: .readable, until: .distantFuture)
      isDone.withState { $0 = true }
      return outcome
    }
    #expect(outcome == .ready(.readable))
  }

  @Test("jobs that make jobs without end leave room for descriptors")
  func greedyJobs() async throws {
    let outcome = try await withEventLoop { loop in
      let spinner = loop.spawn { while !Task.isCancelled { await Task.yield() } }
      let pipe = try Pipe()
      pipe.put()
      let outcome = try await loop.wait(on: pipe.reading, for: .readable, until: .distantFuture)
      spinner.cancel()
      return outcome
    }
    #expect(outcome == .ready(.readable))
  }

  @Test("state confined to a loop traps when another thread touches it")
  func confinement() async {
    await #expect(processExitsWith: .failure) {
      try await withEventLoop { loop in
        let state = LoopConfined(0, on: loop)
        await Task.detached { state.withState { $0 += 1 } }.value
      }
    }
  }

  @Test("state confined to a loop traps when it is reached for while it is being changed")
  func reentry() async {
    await #expect(processExitsWith: .failure) {
      try await withEventLoop { loop in
        let state = LoopConfined(0, on: loop)
        state.withState { outer in state.withState { inner in inner += outer } }
      }
    }
  }
}

private actor Resident {
  private let loop: EventLoop
  init(loop: EventLoop) { self.loop = loop }
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
  func isOnLoop() -> Bool { loop.isCurrent }
}
