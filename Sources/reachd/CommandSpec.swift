internal import ReachConfig

/// One command: the single source for parsing it, for its help, for its completion and for what its manual must tell.
struct CommandSpec: Sendable {
  let name: String
  let summary: String
  /// What stands for the arguments in the usage; nil for a command without any.
  var arguments: String?
  /// What an argument may be.
  var argumentKind = ValueKind.text
  let options: [OptionSpec]
  /// Printed below the options: what it does, and its output; empty when the summary says it all.
  var details = ""
  /// Every status that it ends with, beside that of a command line that cannot be understood.
  let exits: [ExitSpec]

  static let all: [CommandSpec] = [run, check, probe, plugins, history, health, completion]

  static let run = CommandSpec(
    name: "run", summary: "the agent, in the foreground, until SIGTERM or SIGINT",
    options: [
      .config,
      OptionSpec(
        flag: "--listen", value: "ADDR",
        summary: "where to serve, instead of web.listen: host:port, [v6]:port, :port, unix:/PATH", isRepeatable: true),
      .choice("--log-level", "LEVEL", of: LogSettings.Level.self),
      .choice("--log-format", "FORMAT", of: LogSettings.Format.self),
    ],
    exits: [ExitSpec(0, "after a clean stop"), ExitSpec(1, "when it cannot start")])

  static let check = CommandSpec(
    name: "check", summary: "validates a configuration without starting anything",
    options: [
      .config,
      OptionSpec(
        flag: "--blackbox", value: "FILE", kind: .file,
        summary: "print the modules of a configuration of blackbox_exporter as 'modules:' instead"),
    ],
    details: """
      Prints every problem on a line of its own: FILE:LINE:COLUMN: error: MESSAGE (or warning:). Of a valid configuration
      it says how many series, in how many bytes, a scrape will have once every target has been reached.
      """,
    exits: [ExitSpec(0, "when the configuration is valid"), ExitSpec(1, "when it is not")])

  static let probe = CommandSpec(
    name: "probe", summary: "one round against each target, and what every layer saw", arguments: "TARGET...",
    argumentKind: .target,
    options: [
      .json, .config,
      OptionSpec(flag: "--timeout", value: "DURATION", summary: "the deadline of the round, such as 2s (default 5s)"),
    ],
    details: """
      TARGET is a host or an address, with or without a port (example.com:443, 192.0.2.1, [2001:db8::1]:22),
      the word 'default' for the way to the internet, or the name of a target in the configuration.
      """,
    exits: [
      ExitSpec(0, "when all are reachable"),
      ExitSpec(1, "when any is NotReachable, or the configuration cannot be used"),
      ExitSpec(2, "when any is Unknown and none NotReachable"),
    ])

  static let history = CommandSpec(
    name: "history", summary: "the changes of status that are kept in state_dir, newest last",
    options: [
      .config,
      OptionSpec(flag: "--target", value: "NAME", kind: .target, summary: "only those of this target"),
      OptionSpec(flag: "--since", value: "DURATION", summary: "only those of the last 24h, 30m and so on"),
      .json,
    ],
    details: "Reads what an agent with this configuration keeps, also while it runs.",
    exits: [ExitSpec(0, "when the state could be read"), ExitSpec(1, "when there is none")])

  static let plugins = CommandSpec(
    name: "plugins", summary: "the probe backends found, their options, and why any was rejected",
    options: [.config, OptionSpec(flag: "--json", value: nil, summary: "print JSON instead")],
    exits: [ExitSpec(0, "when none was rejected"), ExitSpec(1, "when any was")])

  static let health = CommandSpec(
    name: "health", summary: "asks a running agent whether it is alive, for health checks of containers",
    options: [
      .config,
      OptionSpec(
        flag: "--url", value: "URL",
        summary: "whom to ask, instead of the first of web.listen: http://host:port, https://host:port, unix:/PATH"),
      OptionSpec(flag: "--timeout", value: "DURATION", summary: "how long to wait for the answer (default 3s)"),
    ],
    details: """
      Asks for /-/healthy, or for the path of the URL. A certificate is not verified. That a password, a certificate or
      patience is asked for (401, 429) shows that the agent lives.
      """,
    exits: [ExitSpec(0, "when it is alive"), ExitSpec(1, "when it is not, or cannot be asked")])

  static let completion = CommandSpec(
    name: "completion", summary: "prints a script that completes command lines in a shell", arguments: "SHELL",
    argumentKind: .words(CompletionCommand.Subject.allCases.map(\.rawValue)),
    options: [.config],
    details: """
      SHELL is bash, zsh or fish. With 'targets' in its place the names of the configuration's targets are printed, which
      the scripts offer.
      """,
    exits: [ExitSpec(0, "when it was printed"), ExitSpec(1, "when the configuration cannot be read")])
}
