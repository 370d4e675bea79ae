internal import Synchronization

/// Keeps what is logged, for tests: of this project and of those who build on it.
public final class MemorySink: LogSink {
  private let kept = Mutex<[LogRecord]>([])
  private let continuation: AsyncStream<LogRecord>.Continuation

  /// Each record as it comes, for one reader; the newest 1,024 wait.
  public let stream: AsyncStream<LogRecord>

  /// An empty sink.
  public init() {
    (stream, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1024))
  }

  /// What has been logged, oldest first.
  public var records: [LogRecord] { kept.withLock { $0 } }
  /// The same without the times.
  public var events: [LogEvent] { records.map(\.event) }

  /// Keeps the record.
  public func write(_ record: LogRecord) {
    kept.withLock { $0.append(record) }
    continuation.yield(record)
  }
}
