/// One option of a command, as it is written and explained.
struct OptionSpec: Sendable {
  /// With the dashes, such as `--config`.
  let flag: String
  /// What stands for the value in the usage; nil for an option without one.
  let value: String?
  /// One line.
  let summary: String
  /// Whether it may be given more than once.
  var isRepeatable = false
}

/// One command: the single source for parsing it and for its help.
struct CommandSpec: Sendable {
  let name: String
  let summary: String
  /// What stands for the arguments in the usage; nil for a command without any.
  var arguments: String?
  let options: [OptionSpec]
  /// Printed below the options: what it does, its output and its exit codes.
  let details: String

  static let config = OptionSpec(
    flag: "--config", value: "FILE", summary: "the configuration (default /etc/reachd/reachd.yaml)")

  static let all: [CommandSpec] = [run, check, probe, plugins, history]

  static let run = CommandSpec(
    name: "run", summary: "the agent, in the foreground, until SIGTERM or SIGINT",
    options: [
      config,
      OptionSpec(
        flag: "--listen", value: "ADDR",
        summary: "where to serve, instead of web.listen: host:port, [v6]:port, :port, unix:/PATH", isRepeatable: true),
      OptionSpec(flag: "--log-level", value: "LEVEL", summary: "debug, info, warning or error"),
      OptionSpec(flag: "--log-format", value: "FORMAT", summary: "json, logfmt or text"),
    ],
    details: "Exit status: 0 after a clean stop, 1 when it cannot start.")

  static let check = CommandSpec(
    name: "check", summary: "validates a configuration without starting anything",
    options: [
      config,
      OptionSpec(
        flag: "--blackbox", value: "FILE",
        summary: "print the modules of a configuration of blackbox_exporter as 'modules:' instead"),
    ],
    details: """
      Prints every problem on a line of its own: FILE:LINE:COLUMN: error: MESSAGE (or warning:). Of a valid configuration
      it says how many series, in how many bytes, a scrape will have once every target has been reached.
      Exit status: 0 when the configuration is valid, 1 when it is not.
      """)

  static let probe = CommandSpec(
    name: "probe", summary: "one round against each target, and what every layer saw", arguments: "TARGET...",
    options: [
      OptionSpec(flag: "--json", value: nil, summary: "print a JSON array instead"), config,
      OptionSpec(flag: "--timeout", value: "DURATION", summary: "the deadline of the round, such as 2s (default 5s)"),
    ],
    details: """
      TARGET is a host or an address, with or without a port (example.com:443, 192.0.2.1, [2001:db8::1]:22),
      the word 'default' for the way to the internet, or the name of a target in the configuration.
      Exit status: 0 when all are reachable, 1 when any is NotReachable, 2 when any is Unknown and none NotReachable.
      """)

  static let history = CommandSpec(
    name: "history", summary: "the changes of status that are kept in state_dir, newest last",
    options: [
      config, OptionSpec(flag: "--target", value: "NAME", summary: "only those of this target"),
      OptionSpec(flag: "--since", value: "DURATION", summary: "only those of the last 24h, 30m and so on"),
      OptionSpec(flag: "--json", value: nil, summary: "print a JSON array instead"),
    ],
    details: """
      Reads what an agent with this configuration keeps, also while it runs.
      Exit status: 0, or 1 when there is no state.
      """)

  static let plugins = CommandSpec(
    name: "plugins", summary: "the probe backends found, their options, and why any was rejected",
    options: [config, OptionSpec(flag: "--json", value: nil, summary: "print JSON instead")],
    details: "Exit status: 0, or 1 when any was rejected.")
}
