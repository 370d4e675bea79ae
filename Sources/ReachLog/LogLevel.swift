/// How much an event matters, from the least.
public enum LogLevel: String, Hashable, Sendable, CaseIterable, Comparable {
  /// For finding out why.
  case debug
  /// Worth keeping.
  case info
  /// Somebody may want to act.
  case warning
  /// Something the agent was asked for could not be done.
  case error

  var rank: Int {
    switch self {
    case .debug: 0
    case .info: 1
    case .warning: 2
    case .error: 3
    }
  }

  /// Whether `left` matters less than `right`.
  public static func < (left: LogLevel, right: LogLevel) -> Bool { left.rank < right.rank }
}
