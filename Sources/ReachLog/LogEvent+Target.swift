public import ReachCore

/// The events about targets, with the fields the reference names.
extension LogEvent {
  /// The first status after start.
  public static func statusInitial(target: Target, change: StatusChange) -> LogEvent {
    let verdict = change.to
    return LogEvent(
      .info, "status_initial", "\(target.name) is \(verdict.status.rawValue)" + because(verdict),
      fields: [Field("target", .string(target.name)), Field("to", .string(verdict.status.rawValue))]
        + fields(of: target, change: change))
  }

  /// A change of status.
  public static func statusChanged(target: Target, change: StatusChange) -> LogEvent {
    let verdict = change.to
    let from = change.from
    var message = "\(target.name) is \(verdict.status.rawValue)" + because(verdict)
    if let from, from != verdict.status {
      let lasted = change.inPrevious.map { " for \($0.brief)" } ?? ""
      message += ", was \(from.rawValue)\(lasted)"
    }
    let fields =
      [
        Field("target", .string(target.name)), Field("from", .optional(from?.rawValue)),
        Field("to", .string(verdict.status.rawValue)),
      ] + fields(of: target, change: change)
    let isLoss = verdict.status == .notReachable && from != .notReachable
    return LogEvent(isLoss ? .warning : .info, "status_changed", message, fields: fields)
  }

  /// The target is NotReachable as before, for another reason: whoever mends the first one must know of the next.
  public static func reasonChanged(target: Target, from: Reason, to verdict: Verdict) -> LogEvent {
    LogEvent(
      .warning, "reason_changed",
      "\(target.name) is still \(verdict.status.rawValue): \(verdict.reason.explanation); before, \(from.explanation)",
      fields: [
        Field("target", .string(target.name)), Field("status", .string(verdict.status.rawValue)),
        Field("from_reason", .string(from.description)), Field("layer", .string(verdict.reason.layer.rawValue)),
        Field("reason", .string(verdict.reason.description)), Field("interface", .string(verdict.path.interface)),
        Field("address", .string(verdict.path.address?.description ?? "")),
      ])
  }

  /// The flags changed and the status did not.
  public static func flagsChanged(target: Target, from: ReachabilityFlags, to verdict: Verdict) -> LogEvent {
    let flags = verdict.flags
    return LogEvent(
      .debug, "flags_changed",
      "\(target.name) has the flags \(flags?.description ?? ReachabilityFlags.absentDescription), before \(from)",
      fields: [
        Field("target", .string(target.name)), Field("from_flags", .string(from.description)),
        Field("flags", .optional(flags?.description)),
        Field("flags_value", flags.map { .integer(Int64($0.rawValue)) } ?? .null),
      ])
  }

  /// The egress interface is another than before.
  public static func pathChanged(target: Target, from: ReachabilityPath, to: ReachabilityPath) -> LogEvent {
    func name(_ interface: String) -> String { interface.isEmpty ? "no interface" : interface }
    return LogEvent(
      .info, "path_changed", "\(target.name) leaves by \(name(to.interface)), before by \(name(from.interface))",
      fields: [
        Field("target", .string(target.name)), Field("from_interface", .string(from.interface)),
        Field("to_interface", .string(to.interface)), Field("from_medium", .string(from.medium?.rawValue ?? "")),
        Field("to_medium", .string(to.medium?.rawValue ?? "")),
      ])
  }

  /// The event that tells of what a target's state did.
  public static func targetEvent(_ event: TargetEvent, of target: Target) -> LogEvent {
    switch event {
    case .initial(let change): statusInitial(target: target, change: change)
    case .changed(let change): statusChanged(target: target, change: change)
    case .flagsChanged(let from, let verdict): flagsChanged(target: target, from: from, to: verdict)
    case .pathChanged(let from, let to): pathChanged(target: target, from: from, to: to)
    }
  }

  /// A probe has had its part in a round.
  public static func probeFinished(target: Target, run: ProbeRun) -> LogEvent {
    let reason = run.outcome.reason
    let because = reason.map { ": \($0)" } ?? ""
    var fields = [
      Field("target", .string(target.name)), Field("probe", .string(run.probe)),
      Field("outcome", .string(run.outcome.name)), Field("reason", .optional(reason?.description)),
      Field("duration_seconds", run.duration.map(Value.duration) ?? .null),
    ]
    if let detail = run.detail { fields.append(Field("detail", .string(detail.description))) }
    return LogEvent(
      .debug, "probe_finished", "\(run.probe) of \(target.name): \(run.outcome.name)\(because)", fields: fields)
  }

  private static func fields(of target: Target, change: StatusChange) -> [Field] {
    let verdict = change.to
    let path = verdict.path
    let flags = verdict.flags
    return [
      Field("flags", .optional(flags?.description)),
      Field("flags_value", flags.map { .integer(Int64($0.rawValue)) } ?? .null),
      Field("layer", .string(verdict.reason.layer.rawValue)), Field("reason", .string(verdict.reason.description)),
      Field("interface", .string(path.interface)), Field("medium", .string(path.medium?.rawValue ?? "")),
      Field("address", .string(path.address?.description ?? "")),
      Field("sequence", .integer(Int64(clamping: change.sequence))),
      Field("in_previous_seconds", change.inPrevious.map(Value.duration) ?? .null),
      Field("labels", .labels(target.labels)),
    ] + (change.causeID.map { [Field("cause_id", .string($0))] } ?? [])
  }

  private static func because(_ verdict: Verdict) -> String {
    let path = verdict.path.interface.isEmpty ? "" : " by \(verdict.path.interface)"
    return "\(path): \(verdict.reason.explanation)"
  }
}
