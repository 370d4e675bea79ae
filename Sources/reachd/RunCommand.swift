internal import ReachAgent
internal import ReachConfig

/// `reachd run`.
enum RunCommand {
  static func run(_ arguments: Arguments, _ console: Console) throws(UsageError) -> Int32 {
    let overrides = try overrides(arguments, console)
    let file = arguments.last("--config") ?? Preparation.defaultFile
    let preparation: Preparation
    do {
      preparation = try Preparation.load(file: file)
    } catch {
      console.error("\(error)\n")
      return 1
    }
    guard preparation.configuration != nil else {
      for problem in preparation.problems { console.error("\(problem)\n") }
      return 1
    }
    do {
      try Agent(preparation, overrides).run()
      return 0
    } catch {
      console.error("reachd: \(error)\n")
      return 1
    }
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
