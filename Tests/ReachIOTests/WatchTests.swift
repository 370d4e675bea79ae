import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4))) struct WatchTests {
  @Test("an event for a watch that ended in the same turn is dropped, also when its descriptor number lives on")
  func staleEvent() async throws {
    let seen = try await withEventLoop { loop in
      // Both pipes are ready in one turn. Whichever is seen first closes the other and reuses its number.
      let first = try Pipe()
      let second = try Pipe()
      let third = try Pipe()
      let counts = LoopConfined((old: 0, new: 0), on: loop)
      let watches = LoopConfined<[EventLoop.Watch]>([], on: loop)
      let pairs = [(first.reading, second.reading), (second.reading, first.reading)]
      let spare = third.reading
      for (index, pair) in pairs.enumerated() {
        let watch = try loop.watch(pair.0, for: .readable) { _ in
          counts.withState { $0.old += 1 }
          watches.withState { list in
            loop.forget(list[1 - index])
            loop.unwatch(list[index])
          }
          // dup2(2) closes the other end and puts the spare pipe, which is silent, under its number.
          guard dup2(spare, pair.1) >= 0 else { return }
          _ = try? loop.watch(pair.1, for: .readable) { _ in counts.withState { $0.new += 1 } }
        }
        watches.withState { $0.append(watch) }
      }
      first.put()
      second.put()
      await loop.settle()
      return counts.withState { [$0.old, $0.new] }
    }
    #expect(seen == [1, 0])
  }

  @Test("a change of interest takes effect, and a watch that has ended is left alone")
  func change() async throws {
    let readiness = try await withEventLoop { loop in
      let pipe = try Pipe()
      let seen = LoopConfined<[Readiness]>([], on: loop)
      let watch = try loop.watch(pipe.writing, for: []) { readiness in seen.withState { $0.append(readiness) } }
      await loop.settle()
      let silent = seen.withState { $0.isEmpty }
      try loop.change(watch, to: [.writable, .edgeTriggered])
      await loop.settle()
      loop.unwatch(watch)
      loop.unwatch(watch)
      loop.forget(watch)
      try loop.change(watch, to: .writable)
      await loop.settle()
      return (silent, seen.withState { $0 })
    }
    #expect(readiness.0)
    #expect(readiness.1 == [.writable])
  }

  @Test("a descriptor that cannot be watched is reported, and its slot is not lost")
  func refusedWatch() async throws {
    let errors = try await withEventLoop { loop in
      var errors: [String] = []
      for number: Int32 in [-1, -1] {
        do { _ = try loop.watch(number, for: .readable) { _ in } } catch { errors.append("\(error)") }
      }
      return errors
    }
    #expect(errors == ["epoll_ctl: EBADF", "epoll_ctl: EBADF"])
  }

  @Test("a wait ends with readiness, the deadline, or a cancellation from on or off the loop")
  func waits() async throws {
    let outcomes = try await withEventLoop(clock: ManualClock()) { loop -> [WaitOutcome] in
      guard let clock = loop.clock as? ManualClock else { return [] }
      let pipe = try Pipe()
      let reading = pipe.reading
      var outcomes: [WaitOutcome] = []
      let wait: @Sendable () async -> WaitOutcome = {
        (try? await loop.wait(on: reading, for: .readable, until: loop.now().advanced(by: .seconds(5)))) ?? .deadline
      }
      let results = LoopConfined<[WaitOutcome]>([], on: loop)
      let begin = {
        loop.spawn {
          let outcome = await wait(); results.withState { $0.append(outcome) }
        }
      }
      for step in 0..<4 {
        let task = begin()
        await loop.settle()
        switch step {
        case 0: await clock.advance(by: .seconds(5), on: loop)
        case 1: task.cancel()
        case 2: await Task.detached { task.cancel() }.value
        default: pipe.put()
        }
        await task.value
      }
      // A task that is cancelled before it begins to wait does not wait at all.
      let task = begin()
      task.cancel()
      await task.value
      outcomes = results.withState { $0 }
      return outcomes + (loop.pendingTimers == 0 ? [] : [.deadline])
    }
    #expect(outcomes == [.deadline, .cancelled, .cancelled, .ready(.readable), .cancelled])
  }

  @Test("a wait that is finished before it suspends, or twice, keeps its first outcome")
  func finishedAtOnce() async throws {
    let outcome = try await withEventLoop { loop in
      await loop.wait(until: .distantFuture) { wait in
        wait.finish(.ready(.writable))
        wait.finish(.deadline)
      }
    }
    #expect(outcome == .ready(.writable))
  }
}
