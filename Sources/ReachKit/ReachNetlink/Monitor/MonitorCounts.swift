/// What a monitor has met, in the form that costs least to keep.
struct MonitorCounts: Hashable, Sendable {
  var overruns: UInt64 = 0
  var resyncs: UInt64 = 0
  var failedResyncs: UInt64 = 0
  var malformed: UInt64 = 0
  var strays: UInt64 = 0
  var flaps: UInt64 = 0

  /// By type; types from `otherType` on share the last.
  private var messages = [UInt64](repeating: 0, count: Self.otherType + 1)
  private static let otherType = 128

  /// Counts a message of that type.
  mutating func note(_ type: UInt16) { messages[min(Int(type), Self.otherType)] &+= 1 }

  /// The messages received, by the name of their type.
  var messagesByName: [String: UInt64] {
    var counts: [String: UInt64] = [:]
    for (type, count) in messages.enumerated() where count > 0 {
      counts[MessageType.name(UInt16(truncatingIfNeeded: type)), default: 0] &+= count
    }
    return counts
  }
}
