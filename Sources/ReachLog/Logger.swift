public import ReachIO
internal import Synchronization

/// Takes records and sees to it that somebody gets them.
public protocol LogSink: AnyObject, Sendable {
  /// Takes one record. Called on the event loop, or before it runs; must not block.
  func write(_ record: LogRecord)
}

/// Where the parts of the agent say what happened. Given to them, never global.
public final class Logger: Sendable {
  private let threshold: Atomic<Int>
  private let sink: any LogSink
  private let time: @Sendable () -> Int64

  /// A logger. `time` tells the wall clock, in nanoseconds since 1970 UTC.
  public init(
    level: LogLevel, sink: any LogSink, time: @escaping @Sendable () -> Int64 = WallClock.nanosecondsSinceEpoch
  ) {
    threshold = Atomic(level.rank)
    self.sink = sink
    self.time = time
  }

  /// Events that matter less than this from now on are left out.
  public func setLevel(_ level: LogLevel) { threshold.store(level.rank, ordering: .relaxed) }

  /// Whether events of this level are kept: asked before an event is made that would cost something.
  public func isEnabled(_ level: LogLevel) -> Bool { level.rank >= threshold.load(ordering: .relaxed) }

  /// Hands the event on, unless it matters too little.
  public func log(_ event: LogEvent) { log(event, at: time()) }

  /// Hands on an event that happened at another time, in nanoseconds since 1970 UTC.
  public func log(_ event: LogEvent, at time: Int64) {
    if isEnabled(event.level) { sink.write(LogRecord(time: time, event: event)) }
  }

  /// Makes the event and hands it on only when debug events are kept.
  public func debug(_ event: @autoclosure () -> LogEvent) {
    if isEnabled(.debug) { log(event()) }
  }
}
