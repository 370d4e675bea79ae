internal import ReachConfig

extension Arguments {
  /// The value of `--timeout`; nil where it is not given. Throws for what is no time that can be waited for.
  func timeout(of command: String) throws(UsageError) -> Duration? {
    guard let text = last("--timeout") else { return nil }
    let timeout: Duration
    do throws(ValueError) { timeout = try Duration(parsing: text) } catch {
      throw UsageError(message: "--timeout: \(error)", command: command)
    }
    guard timeout >= .milliseconds(1) else {
      throw UsageError(message: "--timeout: '\(text)' is below a millisecond; write a longer one", command: command)
    }
    return timeout
  }
}
