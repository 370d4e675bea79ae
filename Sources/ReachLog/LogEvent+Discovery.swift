/// The events about targets that are found while the agent runs.
extension LogEvent {
  /// A source of targets has others than before, so many that are watched, or is back after a failure.
  public static func targetsDiscovered(source: String, targets: Int) -> LogEvent {
    LogEvent(
      .info, "targets_discovered", "\(source) has \(targets) target\(targets == 1 ? "" : "s")",
      fields: [Field("source", .string(source)), Field("targets", .integer(Int64(targets)))])
  }

  /// Something of a list of targets is left out or cut. `entry` is its place in the list, from 1; nil for all of it.
  public static func discoveryIgnored(source: String, file: String, entry: Int?, problem: String) -> LogEvent {
    let place = entry.map { "\(file): entry \($0)" } ?? (file.isEmpty ? source : file)
    return LogEvent(
      .warning, "discovery_ignored", "\(place): \(problem)",
      fields: [
        Field("source", .string(source)), Field("file", .string(file)),
        Field("entry", entry.map { .integer(Int64($0)) } ?? .null), Field("problem", .string(problem)),
      ])
  }

  /// A list of targets cannot be had; of what it had last, so many targets are kept.
  public static func discoveryFailed(source: String, file: String, problem: String, kept: Int) -> LogEvent {
    LogEvent(
      .warning, "discovery_failed",
      "\(file) cannot be used: \(problem)\(kept == 0 ? "" : "; its \(kept) last target\(kept == 1 ? " is" : "s are") kept")",
      fields: [
        Field("source", .string(source)), Field("file", .string(file)), Field("problem", .string(problem)),
        Field("targets", .integer(Int64(kept))),
      ])
  }
}
