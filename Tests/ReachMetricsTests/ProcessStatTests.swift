import Testing

@testable import ReachMetrics

@Suite struct ProcessStatTests {
  @Test("a name with blanks and parentheses does not move the fields")
  func parses() {
    let text = "42 (a ) b) S 1 42 42 0 -1 4194560 9 0 0 0 100 50 0 0 20 0 3 0 777 10485760 256 18446744073709551615\n"
    let stat = ProcessStat(parsing: Array(text.utf8))
    #expect(stat?.cpuTicks == 150)
    #expect(stat?.threads == 3)
    #expect(stat?.startTicks == 777)
    #expect(stat?.virtualBytes == 10_485_760)
    #expect(stat?.residentPages == 256)
  }

  @Test(
    "anything else is nil",
    arguments: ["", "42 (a", "42 (a) S 1 2", "42 (a) S x x x x x x x x x x x x x x x x x x x x"])
  func refuses(text: String) {
    #expect(ProcessStat(parsing: Array(text.utf8)) == nil)
  }

  @Test("the boot time is found by its name")
  func boot() {
    #expect(ProcessSample.bootSeconds(in: Array("cpu 1 2\nbtime 1700000000\nprocesses 5\n".utf8)) == 1_700_000_000)
    #expect(ProcessSample.bootSeconds(in: Array("btime x\n".utf8)) == nil)
  }
}
