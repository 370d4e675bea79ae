/// Why the agent cannot start: one line that says what, where and what to do.
public struct AgentError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The line.
  public let description: String
  /// An error with that line.
  public init(_ description: String) { self.description = description }
}
