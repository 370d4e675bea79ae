/// When a source is asked next.
struct RefreshPace: Hashable {
  /// Failures in a row.
  private(set) var failures = 0

  /// After the first failure it is asked again so soon, then after twice that and so on, up to its interval.
  static let firstRetry = Duration.seconds(5)
  /// What a TTL counts as at least.
  static let shortest = Duration.seconds(5)
  /// What a TTL counts as at most.
  static let longest = Duration.seconds(300)

  /// How long to wait after an attempt, when it is asked at this interval. `chance` from 0 to 1 moves that by a tenth in
  /// either direction, so that many agents do not ask in step.
  mutating func wait(afterSuccess hasSucceeded: Bool, interval: Duration, chance: Double) -> Duration {
    failures = hasSucceeded ? 0 : min(failures + 1, 32)
    var wait = interval
    if failures > 0 { wait = min(interval, Self.firstRetry * (1 << min(failures - 1, 16))) }
    return wait * (900 + Int(200 * min(1, max(0, chance)))) / 1000
  }

  /// The interval that a TTL makes; nil is that of an answer without records.
  static func interval(ofTTL ttl: Duration?) -> Duration { min(longest, max(shortest, ttl ?? .seconds(30))) }
}
