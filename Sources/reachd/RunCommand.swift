internal import ReachAgent
internal import ReachConfig

/// `reachd run`.
enum RunCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws(UsageError) -> Int32 {
    let overrides = try overrides(arguments, console)
    Agent.holdSignals()
    guard let agent = agent(arguments.last("--config") ?? Preparation.defaultFile, overrides, console) else { return 1 }
    do {
      try agent.run()
      return 0
    } catch {
      console.error("reachd: \(error)\n")
      return 1
    }
  }

  /// The agent, ready to run; nil when it cannot be, which has then been said. What was read of the file ends here.
  private static func agent(_ file: String, _ overrides: AgentOverrides, _ console: Console) -> Agent? {
    do {
      let preparation = try Preparation.load(file: file).readingWebConfig()
      if preparation.configuration != nil { return try Agent(preparation, overrides) }
      for problem in preparation.problems { console.error("\(problem)\n") }
    } catch let error as ConfigurationFileError {
      console.error("\(error)\n")
    } catch {
      console.error("reachd: \(error)\n")
    }
    return nil
  }

  private static func overrides(_ arguments: Arguments, _ console: Console) throws(UsageError) -> AgentOverrides {
    var overrides = AgentOverrides()
    overrides.isColoured = console.isErrorDecorated
    for text in arguments.options["--listen"] ?? [] {
      do {
        overrides.listen.append(try ListenAddress(parsing: text))
      } catch {
        throw UsageError(message: "--listen: \(error)", command: "run")
      }
    }
    overrides.logLevel = try word("--log-level", arguments)
    overrides.logFormat = try word("--log-format", arguments)
    return overrides
  }

  private static func word<Word: RawRepresentable<String> & CaseIterable>(
    _ flag: String, _ arguments: Arguments
  ) throws(UsageError) -> Word? {
    guard let text = arguments.last(flag) else { return nil }
    if let word = Word(rawValue: text) { return word }
    let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
    throw UsageError(message: "\(flag) takes one of \(known), not '\(text)'", command: "run")
  }
}
