import ReachCore
import Testing

@testable import ReachScheduler

@Suite struct FootprintTests {
  @Test("the schedule itself takes less than a hundred bytes a target")
  func entry() {
    // Beside the entry: 16 bytes in the heap and 4 for its place there.
    #expect(MemoryLayout<SchedulerState.Entry>.stride + 20 <= 100)
    print(
      "SIZES", MemoryLayout<SchedulerState.Entry>.stride, MemoryLayout<RoundProgress>.stride,
      MemoryLayout<Target>.stride, MemoryLayout<PlannedProbe>.stride, MemoryLayout<Candidate>.stride,
      MemoryLayout<SchedulerCore.Slot?>.stride, MemoryLayout<RoundFindings>.stride, MemoryLayout<ProbeRun>.stride,
      MemoryLayout<RoundReport>.stride, MemoryLayout<DNSFinding>.stride)
  }
}
