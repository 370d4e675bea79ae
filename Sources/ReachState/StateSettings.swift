/// The bounds of what is kept and of how long anything is waited for.
public struct StateSettings: Hashable, Sendable {
  /// How long transitions are kept.
  public var age = Duration.seconds(90 * 86_400)
  /// How many transitions are kept.
  public var transitions = 100_000
  /// How large the database may grow, in bytes; its log beside it may add 4 MiB.
  public var bytes = 64 << 20
  /// How many transitions are kept in memory where there is no state_dir.
  public var inMemory = 10_000
  /// How many changes may wait for the disk, or two for each target if that is more; further ones are dropped and counted.
  public var queue = 10_000
  /// How long a line in the log waits for its change to be kept.
  public var patience = Duration.milliseconds(500)
  /// How long the start of the agent waits for what was kept.
  public var startPatience = Duration.seconds(5)
  /// How long a question about transitions waits.
  public var answerPatience = Duration.seconds(2)
  /// How often the agent's being alive is noted.
  public var heartbeat = Duration.seconds(30)
  /// How long after the start, and then how often, old transitions are looked for. Not at once: a machine without a
  /// clock of its own starts with the wrong time.
  public var trimming = Duration.seconds(900)
  /// How long to wait before another try after the disk refused; doubled each time, up to 30 s.
  public var retry = Duration.seconds(1)

  /// The bounds that the documentation names.
  public init() {}
}
