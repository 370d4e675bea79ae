internal import ReachAgent
internal import ReachConfig
internal import ReachCore

/// `reachd completion`.
enum CompletionCommand {
  /// What is printed.
  enum Subject: String, CaseIterable {
    case bash, zsh, fish, targets
  }

  static func run(_ arguments: Arguments, _ console: Console) throws(UsageError) -> Int32 {
    guard arguments.operands.count == 1, let subject = Subject(rawValue: arguments.operands[0]) else {
      let known = Subject.allCases.map(\.rawValue).joined(separator: ", ")
      throw UsageError(message: "completion takes one of \(known)", command: "completion")
    }
    switch subject {
    case .bash: console.out(BashCompletion.script)
    case .zsh: console.out(ZshCompletion.script)
    case .fish: console.out(FishCompletion.script)
    case .targets: return printTargets(of: arguments.last("--config") ?? Preparation.defaultFile, console)
    }
    return 0
  }

  /// The names of the targets that the file itself declares, one a line. No plugin is loaded for it: their options are of
  /// no interest here.
  private static func printTargets(of file: String, _ console: Console) -> Int32 {
    do throws(ConfigurationFileError) {
      let result = try ConfigurationDocument(readingFile: file).resolve { _ in nil }
      guard let configuration = result.configuration else {
        for problem in result.problems { console.error("\(problem)\n") }
        return 1
      }
      console.out(configuration.targets.map { $0.target.name + "\n" }.joined())
      return 0
    } catch {
      console.error("\(error)\n")
      return 1
    }
  }
}
