internal import ReachCore
public import ReachIO
public import ReachProbe
internal import Synchronization

/// What happened in one probe, line by line, for a person who wonders why it failed.
public final class ProbeLogbook: ProbeLog, Sendable {
  /// How much a line matters.
  public enum Level: String, Sendable {
    /// What a look at everything needs.
    case debug
    /// A step.
    case info
    /// Why the probe failed.
    case error
  }

  /// What is kept of one probe, in bytes.
  static let limit = 48 * 1024
  /// What is shown of one value.
  private static let valueLimit = 1024

  private struct State {
    var text = ""
    var left = 0
    /// Whether a line has found no room: no other is even made.
    var isFull = false
  }

  private let state = Mutex(State())
  private let wall: @Sendable () -> Int64
  private let context: String

  /// An empty book of a probe by this module of this target. `wall` tells the time, in nanoseconds since 1970 UTC.
  public init(
    module: String, target: String, wall: @escaping @Sendable () -> Int64 = { WallClock.nanosecondsSinceEpoch() }
  ) {
    self.wall = wall
    context = "module=\(Self.value(module)) target=\(Self.value(target))"
  }

  /// Adds a line with these fields.
  public func note(_ level: Level, _ message: String, _ fields: KeyValuePairs<String, String> = [:]) {
    let isLeftOut = state.withLock { state in
      guard state.isFull, level != .error else { return false }
      state.left += 1
      return true
    }
    if isLeftOut { return }
    var line = "ts=\(Timestamp(nanosecondsSinceEpoch: wall())) level=\(level.rawValue) \(context)"
    line += " msg=\(Self.value(message))"
    for (key, text) in fields { line += " \(key)=\(Self.value(text))" }
    line += "\n"
    state.withLock { state in
      // The end of a long conversation says less than its beginning, apart from the verdict.
      if state.text.utf8.count + line.utf8.count > Self.limit, level != .error {
        state.left += 1
        state.isFull = true
      } else {
        state.text += line
      }
    }
  }

  /// Adds what a backend says.
  public func note(_ line: String) { note(.debug, line) }

  /// All lines.
  public var text: String {
    state.withLock { $0.left == 0 ? $0.text : $0.text + "(\($0.left) more lines are left out)\n" }
  }

  /// A value as logfmt has it: in quotes unless it is one word.
  private static func value(_ text: String) -> String {
    let isWord =
      !text.isEmpty
      && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "=") }
    let isShort = text.utf8.count <= valueLimit
    if isWord, isShort { return text }
    var result = "\""
    for scalar in text.unicodeScalars {
      guard result.utf8.count <= valueLimit else {
        result += "…"
        break
      }
      switch scalar {
      case "\"", "\\": result += "\\\(scalar)"
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        if scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) {
          result += "\\u{" + String(scalar.value, radix: 16) + "}"
        } else {
          result.unicodeScalars.append(scalar)
        }
      }
    }
    return result + "\""
  }
}
