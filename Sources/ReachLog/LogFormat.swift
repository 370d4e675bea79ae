/// The form of a log line.
public enum LogFormat: Hashable, Sendable {
  /// One JSON object (RFC 8259).
  case json
  /// `key=value` pairs.
  case logfmt
  /// For people; with colours only where they are asked for.
  case text(colour: Bool)

  /// The line for a record, its end included. Always valid UTF-8, and a single line.
  public func encode(_ record: LogRecord) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(512)
    switch self {
    case .json: JSONLine.append(record, to: &bytes)
    case .logfmt: LogfmtLine.append(record, to: &bytes)
    case .text(let colour): TextLine(colour: colour).append(record, to: &bytes)
    }
    bytes.append(UInt8(ascii: "\n"))
    return bytes
  }
}
