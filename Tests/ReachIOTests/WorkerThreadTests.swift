import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@Suite(.timeLimit(.minutes(4)))
struct WorkerThreadTests {
  @Test("what is offloaded runs beside the loop, and its value comes back to it")
  func offload() async throws {
    let (there, here) = try await withEventLoop { loop in
      let there = try await loop.offload { loop.isCurrent }
      return (there, loop.isCurrent)
    }
    #expect(!there)
    #expect(here)
  }

  @Test("the loop goes on while something is offloaded")
  func beside() async throws {
    let order = try await withEventLoop { loop in
      let order = LoopConfined<[String]>([], on: loop)
      let call = try WakeUpCall()
      // The thread waits for what only the loop can do.
      loop.schedule(at: loop.now().advanced(by: .milliseconds(1))) {
        order.withState { $0.append("loop") }
        call.make()
      }
      let wasCalled = try await loop.offload { call.wait(for: .seconds(30)) }
      order.withState { $0.append(wasCalled ? "thread" : "nobody") }
      return order.withState { $0 }
    }
    #expect(order == ["loop", "thread"])
  }
}
