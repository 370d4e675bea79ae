public import ReachCore

/// What the scheduler tells of one target.
public enum SchedulerEvent: Sendable {
  /// A round begins, this late against its place in the schedule; time spent waiting for other rounds is part of it.
  case started(lag: Duration)
  /// A round has ended, or its backend was given up, which the report's fault then says.
  case finished(RoundReport)
  /// The path was looked at between rounds, since the kernel told of a change or it was time to.
  case looked(PathLook)
  /// A round's result was dropped: the path had changed since it began, and what it is now has been told.
  case outdated
  /// That many rounds did not take place, or their result was dropped: the one before was still going, or this process
  /// was held up. No fresh evidence came of them.
  case skipped(rounds: Int)
  /// That many rounds did not take place: the target's turn has not come, since rounds of other targets take all there is
  /// room for. Its turn comes; nothing is the matter with the target or its backends.
  case crowdedOut(rounds: Int)
}

/// What a look at a target's path came to.
public struct PathLook: Sendable {
  /// Route and link as they are now; what lies beyond this host as the last round saw it.
  public let findings: RoundFindings
  /// When it was looked.
  public let at: Instant
  /// When the change that led to it was heard of; nil when nothing did.
  public let changedAt: Instant?

  /// Whether the link that the target left by came and went, or went and came, since the look before.
  public let hasFlapped: Bool

  /// A look.
  public init(findings: RoundFindings, at: Instant, changedAt: Instant?, hasFlapped: Bool = false) {
    self.hasFlapped = hasFlapped
    self.findings = findings
    self.at = at
    self.changedAt = changedAt
  }
}

/// One target as the scheduler is given it.
public struct ScheduledTarget: Sendable {
  /// Runs its rounds; the interval and the timeout are those of its target's policy.
  public let runner: RoundRunner
  /// Handed back with every event: the owner's own number for the target.
  public let tag: Int

  /// A target to schedule.
  public init(_ runner: RoundRunner, tag: Int) {
    self.runner = runner
    self.tag = tag
  }
}
