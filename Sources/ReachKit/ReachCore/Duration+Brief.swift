extension Duration {
  /// The duration for people, in its two largest units and to the tenth of a second below ten: `3.0s`, `42s`, `5m20s`,
  /// `2h3m`, `4d1h`. A negative one counts as none.
  public var brief: String {
    let seconds = max(0, components.seconds)
    switch seconds {
    case ..<10:
      let tenths = max(0, nanoseconds) / 100_000_000
      return "\(tenths / 10).\(tenths % 10)s"
    case ..<60: return "\(seconds)s"
    case ..<3_600: return "\(seconds / 60)m\(seconds % 60)s"
    case ..<86_400: return "\(seconds / 3_600)h\(seconds % 3_600 / 60)m"
    default: return "\(seconds / 86_400)d\(seconds % 86_400 / 3_600)h"
    }
  }
}
