internal import ReachCore

/// A record as `key=value` pairs; a value with anything but plain characters stands in quotation marks.
enum LogfmtLine {
  static func append(_ record: LogRecord, to bytes: inout [UInt8]) {
    let event = record.event
    bytes.append(contentsOf: "time=\(Timestamp(nanosecondsSinceEpoch: record.time))".utf8)
    bytes.append(contentsOf: " level=\(event.level.rawValue)".utf8)
    append("event", event.id, to: &bytes)
    append("message", event.message, to: &bytes)
    for field in event.fields { append(field, to: &bytes) }
  }

  /// Appends a blank and the field; each label as a pair of its own, `labels.team=storage`.
  static func append(_ field: LogEvent.Field, to bytes: inout [UInt8]) {
    switch field.value {
    case .string(let text): append(field.name, text, to: &bytes)
    case .strings(let texts): append(field.name, texts.joined(separator: ","), to: &bytes)
    case .labels(let labels):
      for label in labels { append("\(field.name).\(label.name)", label.value, to: &bytes) }
    case .integer(let number): append(field.name, String(number), to: &bytes)
    case .double(let number): append(field.name, number.description, to: &bytes)
    case .duration(let duration): append(field.name, duration.inSeconds.description, to: &bytes)
    case .boolean(let truth): append(field.name, truth ? "true" : "false", to: &bytes)
    case .null: append(field.name, "null", to: &bytes)
    }
  }

  private static func append(_ name: String, _ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: " "))
    bytes.append(contentsOf: name.utf8.map { $0 > 0x20 && $0 != 0x22 && $0 != 0x3d && $0 != 0x7f ? $0 : 0x5f })
    bytes.append(UInt8(ascii: "="))
    let isPlain = !text.isEmpty && text.unicodeScalars.allSatisfy(isPlain)
    if isPlain { bytes.append(contentsOf: text.utf8) } else { TerminalText.appendQuoted(text, to: &bytes) }
  }

  private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    scalar.value > 0x20 && scalar != "\"" && scalar != "=" && scalar != "\\" && !TerminalText.isControl(scalar)
  }
}

/// Text that is safe to show on a terminal: what would move its cursor or change its colours is written out.
enum TerminalText {
  /// C0, DEL and C1 controls, and the characters that turn the direction of writing.
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  /// Appends the text with its controls written out.
  static func append(_ text: String, to bytes: inout [UInt8]) {
    for scalar in text.unicodeScalars { append(scalar, to: &bytes) }
  }

  /// Appends the text in quotation marks, with those within it and the controls written out.
  static func appendQuoted(_ text: String, to bytes: inout [UInt8]) {
    bytes.append(UInt8(ascii: "\""))
    for scalar in text.unicodeScalars {
      if scalar == "\"" || scalar == "\\" { bytes.append(UInt8(ascii: "\\")) }
      append(scalar, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\""))
  }

  private static func append(_ scalar: Unicode.Scalar, to bytes: inout [UInt8]) {
    guard isControl(scalar) else {
      return bytes.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
    }
    switch scalar {
    case "\n": bytes.append(contentsOf: "\\n".utf8)
    case "\r": bytes.append(contentsOf: "\\r".utf8)
    case "\t": bytes.append(contentsOf: "\\t".utf8)
    default:
      let digits = String(scalar.value, radix: 16)
      bytes.append(contentsOf: ("\\u" + String(repeating: "0", count: max(0, 4 - digits.utf8.count)) + digits).utf8)
    }
  }
}
