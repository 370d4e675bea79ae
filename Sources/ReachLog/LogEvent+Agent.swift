public import ReachCore

/// The events about the agent itself, with the fields the reference names.
extension LogEvent {
  /// The agent runs.
  public static func agentStarted(version: String, config: String, targets: Int) -> LogEvent {
    LogEvent(
      .info, "agent_started", "reachd \(version) watches \(count(targets, "target"))",
      fields: agentFields(version, config, targets))
  }

  /// The agent was asked to stop.
  public static func agentStopping(version: String, config: String, targets: Int) -> LogEvent {
    LogEvent(.info, "agent_stopping", "reachd stops", fields: agentFields(version, config, targets))
  }

  /// A configuration was read and holds from now on. `summary` says what that means; `problems` are warnings.
  public static func configLoaded(file: String, summary: String = "", problems: [String] = []) -> LogEvent {
    LogEvent(
      .info, "config_loaded",
      "\(file) is in force" + (summary.isEmpty ? "" : ": \(summary)")
        + (problems.isEmpty ? "" : ", with \(count(problems.count, "warning"))"),
      fields: [Field("file", .string(file)), Field("problems", .strings(problems))])
  }

  /// A configuration was refused; the one before, if any, stays in force.
  public static func configRejected(file: String, problems: [String]) -> LogEvent {
    LogEvent(
      .error, "config_rejected", "\(file) is refused: \(count(problems.count, "problem"))",
      fields: [Field("file", .string(file)), Field("problems", .strings(problems))])
  }

  /// A plugin was loaded.
  public static func pluginLoaded(plugin: String, file: String, version: String) -> LogEvent {
    LogEvent(
      .info, "plugin_loaded", "the backend \(plugin) \(version) is loaded",
      fields: [
        Field("plugin", .string(plugin)), Field("file", .string(file)), Field("version", .string(version)),
        Field("reason", .null),
      ])
  }

  /// A plugin was refused; the agent goes on without it.
  public static func pluginRejected(plugin: String, file: String, version: String? = nil, reason: String) -> LogEvent {
    LogEvent(
      .error, "plugin_rejected", "the backend \(plugin) is refused: \(reason)",
      fields: [
        Field("plugin", .string(plugin)), Field("file", .string(file)), Field("version", .optional(version)),
        Field("reason", .string(reason)),
      ])
  }

  /// The kernel's event queue overran, and all interfaces have been read anew, which took that long.
  public static func netlinkOverrun(resync: Duration) -> LogEvent {
    LogEvent(
      .warning, "netlink_overrun", "events of the kernel were lost; its state has been read anew",
      fields: [Field("resync_seconds", .duration(resync))])
  }

  /// Something about this host or process keeps the agent from doing all it could.
  public static func selfCheck(check: String, problem: String, remedy: String) -> LogEvent {
    LogEvent(
      .warning, "self_check", problem,
      fields: [
        Field("check", .string(check)), Field("problem", .string(problem)), Field("remedy", .string(remedy)),
      ])
  }

  /// One fault explains the trouble of several targets, of which at most twenty are named.
  public static func cause(id: String, cause: String, targets: [String], reason: Reason) -> LogEvent {
    LogEvent(
      .warning, "cause", "\(cause) is the cause for \(count(targets.count, "target")): \(reason.explanation)",
      fields: causeFields(id, cause, targets) + [
        Field("layer", .string(reason.layer.rawValue)), Field("reason", .string(reason.description)),
      ])
  }

  /// The fault that explained the trouble of several targets is gone.
  public static func causeCleared(id: String, cause: String, targets: [String], lasted: Duration) -> LogEvent {
    LogEvent(
      .info, "cause_cleared", "\(cause) is over after \(lasted.brief)",
      fields: causeFields(id, cause, targets) + [Field("lasted_seconds", .duration(lasted))])
  }

  private static func causeFields(_ id: String, _ cause: String, _ targets: [String]) -> [Field] {
    [
      Field("cause_id", .string(id)), Field("cause", .string(cause)),
      Field("targets", .strings(Array(targets.prefix(20)))),
      Field("targets_count", .integer(Int64(targets.count))),
    ]
  }

  private static func agentFields(_ version: String, _ config: String, _ targets: Int) -> [Field] {
    [
      Field("version", .string(version)), Field("config", .string(config)), Field("targets", .integer(Int64(targets))),
    ]
  }

  private static func count(_ number: Int, _ noun: String) -> String { "\(number) \(noun)\(number == 1 ? "" : "s")" }
}
