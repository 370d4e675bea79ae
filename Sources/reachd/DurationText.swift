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

  /// The two largest units, to the tenth below ten seconds: `3.0s`, `42s`, `5m20s`, `2h3m`, `4d1h`.
  static func long(_ duration: Duration) -> String {
    let seconds = max(0, duration.components.seconds)
    switch seconds {
    case ..<10:
      let tenths = max(0, duration.nanoseconds) / 100_000_000
      return "\(tenths / 10).\(tenths % 10)s"
    case ..<60: return "\(seconds)s"
    case ..<3_600: return "\(seconds / 60)m\(seconds % 60)s"
    case ..<86_400: return "\(seconds / 3_600)h\(seconds % 3_600 / 60)m"
    default: return "\(seconds / 86_400)d\(seconds % 86_400 / 3_600)h"
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
