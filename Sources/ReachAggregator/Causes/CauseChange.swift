public import ReachCore

/// What a ledger of causes has come to, in the order in which it is to be told.
public enum CauseChange: Hashable, Sendable {
  /// A fault explains the failure of at least two targets.
  case announced(CauseReport)
  /// A fault that was announced is gone, after this long.
  case cleared(CauseReport, lasted: Duration)
  /// From now on the target fails for this cause, which has been announced; nil: for none any more.
  case assigned(key: Int, Cause?)
}

/// A fault as it is told to people.
public struct CauseReport: Hashable, Sendable {
  /// Unique to this fault, beyond the life of the process.
  public var id: String
  /// What is at fault.
  public var cause: Cause
  /// The targets it explains, by their keys, in ascending order; with the end of a fault, all that it ever explained.
  public var targets: [Int]
  /// The reason of the nearest layer among theirs.
  public var reason: Reason

  /// A report.
  public init(id: String, cause: Cause, targets: [Int], reason: Reason) {
    self.id = id
    self.cause = cause
    self.targets = targets
    self.reason = reason
  }
}
