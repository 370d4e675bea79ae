internal import ReachAgent
internal import ReachConfig

/// `reachd health`.
enum HealthCommand {
  /// How long an answer is waited for when nobody says.
  private static let patience = Duration.seconds(3)

  static func run(_ arguments: Arguments, _ console: Console) throws(UsageError) -> Int32 {
    let timeout = try arguments.timeout(of: "health") ?? patience
    if let url = arguments.last("--url") { return ask(try question(url), within: timeout, console) }
    do throws(HealthQuestion.Unknown) {
      let file = arguments.last("--config") ?? Preparation.defaultFile
      return ask(try HealthQuestion(configuration: file), within: timeout, console)
    } catch {
      console.error("\(error)\n")
      return 1
    }
  }

  private static func question(_ url: String) throws(UsageError) -> HealthQuestion {
    do throws(ValueError) { return try HealthQuestion(parsingURL: url) } catch {
      throw UsageError(message: "--url: \(error)", command: "health")
    }
  }

  private static func ask(_ question: HealthQuestion, within timeout: Duration, _ console: Console) -> Int32 {
    for doubt in question.doubts { console.error("\(doubt)\n") }
    let report = HealthCheck.run(question, within: timeout)
    if report.isHealthy { console.out("healthy: \(report.text)\n") } else { console.error("reachd: \(report.text)\n") }
    return report.isHealthy ? 0 : 1
  }
}
