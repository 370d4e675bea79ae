internal import ReachCore

/// A record for people: time, level, message, then the fields that the message does not already say.
struct TextLine {
  /// Whether to colour the level and the status (ECMA-48, SGR).
  let colour: Bool

  private static let said: Set<String> = [
    "target", "from", "to", "reason", "flags_value", "in_previous_seconds", "sequence", "from_interface",
    "to_interface", "outcome", "probe", "problem", "version", "targets",
  ]

  func append(_ record: LogRecord, to bytes: inout [UInt8]) {
    let event = record.event
    paint("2", time(of: record), &bytes)
    bytes.append(UInt8(ascii: " "))
    paint(code(of: event.level), word(of: event.level), &bytes)
    bytes.append(UInt8(ascii: " "))
    paint(code(of: event), event.message, &bytes)
    var rest: [UInt8] = []
    for field in event.fields where !Self.said.contains(field.name) && !isEmpty(field.value) {
      LogfmtLine.append(field, to: &rest)
    }
    guard !rest.isEmpty else { return }
    bytes.append(UInt8(ascii: " "))
    if colour { bytes.append(contentsOf: "\u{1b}[2m".utf8) }
    bytes.append(contentsOf: rest.dropFirst())
    if colour { bytes.append(contentsOf: "\u{1b}[0m".utf8) }
  }

  /// `2026-01-31 09:05:00Z`: to the second, which is enough for a person.
  private func time(of record: LogRecord) -> String {
    let text = Timestamp(nanosecondsSinceEpoch: record.time).description
    return text.split(separator: ".")[0].split(separator: "T").joined(separator: " ") + "Z"
  }

  private func paint(_ code: String?, _ text: String, _ bytes: inout [UInt8]) {
    let isPainted = colour && code != nil
    if isPainted, let code { bytes.append(contentsOf: "\u{1b}[\(code)m".utf8) }
    TerminalText.append(text, to: &bytes)
    if isPainted { bytes.append(contentsOf: "\u{1b}[0m".utf8) }
  }

  private func isEmpty(_ value: LogEvent.Value) -> Bool {
    switch value {
    case .null, .string(""), .strings([]), .labels([]): true
    default: false
    }
  }

  private func word(of level: LogLevel) -> String {
    switch level {
    case .debug: "debug  "
    case .info: "info   "
    case .warning: "warning"
    case .error: "error  "
    }
  }

  private func code(of level: LogLevel) -> String? {
    switch level {
    case .debug: "2"
    case .info: nil
    case .warning: "33"
    case .error: "31"
    }
  }

  private func code(of event: LogEvent) -> String? {
    guard case .string(let status) = event["to"] else { return event.level == .error ? "31" : nil }
    switch Status(rawValue: status) {
    case .notReachable: return "31"
    case .reachableViaWiFi, .reachableViaWWAN: return "32"
    case .unknown: return "33"
    case nil: return nil
    }
  }
}
