/// Writes one JSON value (RFC 8259) as bytes, piece by piece, without building anything in between.
///
/// Commas are put by the writer; keys and nesting are the caller's to keep in order. Text may hold anything: control
/// characters are escaped, and a Swift string is valid UTF-8 by construction.
public struct JSONWriter: Sendable {
  /// What has been written.
  public private(set) var bytes: [UInt8]
  private var needsComma = false

  /// A writer that goes on behind `bytes`.
  public init(appendingTo bytes: [UInt8] = []) { self.bytes = bytes }

  /// Opens an object.
  public mutating func beginObject() { open(0x7b) }
  /// Closes an object.
  public mutating func endObject() { close(0x7d) }
  /// Opens an array.
  public mutating func beginArray() { open(0x5b) }
  /// Closes an array.
  public mutating func endArray() { close(0x5d) }

  /// Writes a key; its value comes next.
  public mutating func key(_ name: String) {
    separate()
    quote(name)
    bytes.append(0x3a)
    needsComma = false
  }

  /// Writes a string.
  public mutating func value(_ text: String) {
    separate()
    quote(text)
    needsComma = true
  }

  /// Writes a string, or `null`.
  public mutating func value(_ text: String?) {
    if let text { value(text) } else { null() }
  }

  /// Writes a whole number.
  public mutating func value(_ number: some FixedWidthInteger) { raw(number.description) }

  /// Writes a number; `null` for one that JSON cannot hold (NaN and the infinities).
  public mutating func value(_ number: Double) { number.isFinite ? raw(number.description) : null() }

  /// Writes `true` or `false`.
  public mutating func value(_ truth: Bool) { raw(truth ? "true" : "false") }

  /// Writes `null`.
  public mutating func null() { raw("null") }

  /// Says that values of the same array or object stand in what this writer goes on behind.
  public mutating func continueList() { needsComma = true }

  /// Writes a line feed between two values of a stream of lines.
  public mutating func endLine() {
    bytes.append(0x0a)
    needsComma = false
  }

  private mutating func raw(_ text: String) {
    separate()
    bytes.append(contentsOf: text.utf8)
    needsComma = true
  }

  private mutating func open(_ byte: UInt8) {
    separate()
    bytes.append(byte)
    needsComma = false
  }

  private mutating func close(_ byte: UInt8) {
    bytes.append(byte)
    needsComma = true
  }

  private mutating func separate() {
    if needsComma { bytes.append(0x2c) }
  }

  private mutating func quote(_ text: String) {
    bytes.append(0x22)
    for byte in text.utf8 {
      switch byte {
      case 0x22, 0x5c: bytes.append(contentsOf: [0x5c, byte])
      case 0x0a: bytes.append(contentsOf: [0x5c, 0x6e])
      case 0x0d: bytes.append(contentsOf: [0x5c, 0x72])
      case 0x09: bytes.append(contentsOf: [0x5c, 0x74])
      case ..<0x20, 0x7f:
        bytes.append(contentsOf: Array("\\u00".utf8) + [hexadecimal(byte >> 4), hexadecimal(byte & 15)])
      default: bytes.append(byte)
      }
    }
    bytes.append(0x22)
  }

  private func hexadecimal(_ digit: UInt8) -> UInt8 { digit < 10 ? 0x30 + digit : 0x57 + digit }
}
