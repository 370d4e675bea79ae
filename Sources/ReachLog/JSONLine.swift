internal import ReachCore

/// A record as one JSON object: time, level, event and message first, then the event's own fields.
enum JSONLine {
  static func append(_ record: LogRecord, to bytes: inout [UInt8]) {
    let event = record.event
    bytes.append(contentsOf: "{\"time\":\"".utf8)
    bytes.append(contentsOf: CivilTime(nanosecondsSinceEpoch: record.time).rfc3339.utf8)
    bytes.append(contentsOf: "\",\"level\":\"".utf8)
    bytes.append(contentsOf: event.level.rawValue.utf8)
    bytes.append(contentsOf: "\",\"event\":".utf8)
    append(event.id, to: &bytes)
    bytes.append(contentsOf: ",\"message\":".utf8)
    append(event.message, to: &bytes)
    for field in event.fields {
      bytes.append(UInt8(ascii: ","))
      append(field.name, to: &bytes)
      bytes.append(UInt8(ascii: ":"))
      append(field.value, to: &bytes)
    }
    bytes.append(UInt8(ascii: "}"))
  }

  private static func append(_ value: LogEvent.Value, to bytes: inout [UInt8]) {
    switch value {
    case .string(let text): append(text, to: &bytes)
    case .strings(let texts):
      bytes.append(UInt8(ascii: "["))
      for (index, text) in texts.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(text, to: &bytes)
      }
      bytes.append(UInt8(ascii: "]"))
    case .labels(let labels):
      bytes.append(UInt8(ascii: "{"))
      for (index, label) in labels.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        append(label.name, to: &bytes)
        bytes.append(UInt8(ascii: ":"))
        append(label.value, to: &bytes)
      }
      bytes.append(UInt8(ascii: "}"))
    case .integer, .double, .duration, .boolean, .null: bytes.append(contentsOf: value.plain.utf8)
    }
  }

  /// Appends a string with its quotation marks; what RFC 8259 section 7 wants escaped is escaped.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 { appendEscaped(byte, to: &bytes) }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func appendEscaped(_ byte: UInt8, to bytes: inout [UInt8]) {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"):
      bytes.append(UInt8(ascii: "\\"))
      bytes.append(byte)
    case UInt8(ascii: "\n"): bytes.append(contentsOf: "\\n".utf8)
    case UInt8(ascii: "\r"): bytes.append(contentsOf: "\\r".utf8)
    case UInt8(ascii: "\t"): bytes.append(contentsOf: "\\t".utf8)
    case ..<0x20, 0x7f:
      bytes.append(contentsOf: "\\u00".utf8)
      for digit in [byte >> 4, byte & 15] { bytes.append(digit < 10 ? 48 + digit : 87 + digit) }
    default: bytes.append(byte)
    }
  }
}

extension LogEvent.Value {
  /// A value that is no text, as JSON and the other forms write it alike; a number that is none becomes `null`.
  var plain: String {
    switch self {
    case .integer(let number): String(number)
    case .boolean(let truth): truth ? "true" : "false"
    case .duration(let duration): Self.plain(duration)
    case .double(let number):
      if !number.isFinite {
        "null"
      } else if let whole = Int64(exactly: number), abs(number) < 9e15 {
        String(whole)
      } else {
        number.description
      }
    case .null, .string, .strings, .labels: "null"
    }
  }

  /// Seconds, exact to the nanosecond, without trailing zeros.
  private static func plain(_ duration: Duration) -> String {
    let magnitude = duration.nanoseconds.magnitude
    var text = (duration < .zero ? "-" : "") + String(magnitude / 1_000_000_000)
    let fraction = String(magnitude % 1_000_000_000)
    guard fraction != "0" else { return text }
    text += "." + String(repeating: "0", count: 9 - fraction.utf8.count) + fraction
    while text.utf8.last == UInt8(ascii: "0") { text.removeLast() }
    return text
  }
}
