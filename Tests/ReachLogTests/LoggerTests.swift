import ReachLog
import Testing

@Suite struct LoggerTests {
  @Test("events below the level are left out, and made only when they are kept")
  func level() {
    let sink = MemorySink()
    let logger = Logger(level: .info, sink: sink, time: { 5 })
    var made = 0
    func event() -> LogEvent {
      made += 1
      return LogEvent(.debug, "probe_finished", "")
    }
    logger.debug(event())
    logger.log(LogEvent(.debug, "a", ""))
    logger.log(LogEvent(.info, "b", ""))
    logger.log(LogEvent(.error, "c", ""))
    #expect(made == 0)
    #expect(sink.events.map(\.id) == ["b", "c"])
    #expect(sink.records.map(\.time) == [5, 5])
    Logger(level: .debug, sink: sink).debug(event())
    #expect(made == 1 && sink.events.count == 3)
  }

  @Test("a reader is handed each record as it comes", .timeLimit(.minutes(4)))
  func stream() async {
    let sink = MemorySink()
    Logger(level: .info, sink: sink).log(LogEvent(.info, "b", "m"))
    var records = sink.stream.makeAsyncIterator()
    #expect(await records.next()?.event.id == "b")
  }
}
