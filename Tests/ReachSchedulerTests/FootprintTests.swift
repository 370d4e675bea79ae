import ReachCore
import Testing

@testable import ReachScheduler

@Suite struct FootprintTests {
  @Test("the schedule itself takes less than a hundred bytes a target")
  func entry() {
    // Beside the entry: 16 bytes in the heap and 4 for its place there.
    #expect(MemoryLayout<SchedulerState.Entry>.stride + 20 <= 100)
  }
}
