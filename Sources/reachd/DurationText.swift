internal import ReachCore

/// Durations as people read them.
enum DurationText {
  /// Three digits and a unit: `31 µs`, `12.4 ms`, `1.20 s`, `5m`, `2h`.
  static func short(_ duration: Duration) -> String {
    let nanoseconds = max(0, duration.nanoseconds)
    switch nanoseconds {
    case ..<1_000_000: return "\((nanoseconds + 500) / 1_000) µs"
    case ..<1_000_000_000: return threeDigits(nanoseconds, of: 1_000_000) + " ms"
    case ..<60_000_000_000: return threeDigits(nanoseconds, of: 1_000_000_000) + " s"
    case ..<3_600_000_000_000: return "\(nanoseconds / 60_000_000_000)m"
    default: return "\(nanoseconds / 3_600_000_000_000)h"
    }
  }

  private static func threeDigits(_ value: Int64, of unit: Int64) -> String {
    let hundredths = value / (unit / 100)
    let (whole, rest) = (hundredths / 100, hundredths % 100)
    if whole >= 100 { return "\(whole)" }
    if whole >= 10 { return "\(whole).\(rest / 10)" }
    return "\(whole).\(rest / 10)\(rest % 10)"
  }
}
