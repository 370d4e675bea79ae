/// Why state cannot be kept as it should be: for one `self_check` line.
public struct StateProblem: Error, Hashable, Sendable {
  /// What is wrong, and what follows from it.
  public var problem: String
  /// What to do.
  public var remedy: String
  /// A problem.
  public init(_ problem: String, remedy: String) {
    self.problem = problem
    self.remedy = remedy
  }
}
