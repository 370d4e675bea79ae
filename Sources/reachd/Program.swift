internal import ReachAgent

/// The program: reads the command line, runs one command, returns its exit status.
enum Program {
  /// EX_USAGE of sysexits.h.
  static let usageStatus: Int32 = 64

  static func main(_ words: [String]) -> Int32 {
    Console.openMissingStreams()
    let console = Console.standard()
    do throws(UsageError) {
      switch try Invocation.parse(words) {
      case .help(let command):
        console.out(Usage.text(for: command))
        return 0
      case .version:
        console.out(BuildInformation.text + "\n")
        return 0
      case .command(let name, let arguments):
        return try run(name, arguments, console)
      }
    } catch {
      console.error("reachd: \(error.message)\n" + Usage.text(for: error.command))
      return usageStatus
    }
  }

  private static func run(_ name: String, _ arguments: Arguments, _ console: Console) throws(UsageError) -> Int32 {
    switch name {
    case CommandSpec.run.name: return try RunCommand.run(arguments, console)
    case CommandSpec.check.name: return CheckCommand.run(arguments, console)
    case CommandSpec.probe.name: return try ProbeCommand.run(arguments, console)
    case CommandSpec.plugins.name: return PluginsCommand.run(arguments, console)
    case CommandSpec.history.name: return try HistoryCommand.run(arguments, console)
    case CommandSpec.health.name: return try HealthCommand.run(arguments, console)
    case CommandSpec.completion.name: return try CompletionCommand.run(arguments, console)
    default: throw UsageError(message: "there is no command '\(name)'")
    }
  }
}
