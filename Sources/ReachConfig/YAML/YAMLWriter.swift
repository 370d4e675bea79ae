/// Writes the few forms of YAML that a configuration needs, so that our own reader, and any other of YAML 1.1 or 1.2, reads
/// back what went in.
struct YAMLWriter {
  private(set) var bytes: [UInt8]

  /// Appends to what is there.
  init(appendingTo bytes: consuming [UInt8]) { self.bytes = bytes }

  /// A line of its own, so many levels in.
  mutating func line(_ text: String, level: Int = 0) {
    bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * level))
    bytes.append(contentsOf: text.utf8)
    bytes.append(UInt8(ascii: "\n"))
  }

  /// Lines that have been written already.
  mutating func append(_ lines: [UInt8]) { bytes.append(contentsOf: lines) }

  /// A key with a value that is YAML already.
  mutating func entry(_ key: String, _ value: String, level: Int = 0) { line("\(key): \(value)", level: level) }

  /// A map on one line; its values are YAML already.
  static func map(_ entries: [(key: String, value: String)]) -> String {
    entries.isEmpty ? "{}" : "{ " + entries.map { "\(scalar($0.key)): \($0.value)" }.joined(separator: ", ") + " }"
  }

  /// A list on one line; its elements are YAML already.
  static func list(_ elements: [String]) -> String { "[" + elements.joined(separator: ", ") + "]" }

  /// A text, in quotes unless nobody could take it for anything else.
  static func scalar(_ text: String) -> String { isPlain(text) ? text : quoted(text) }

  /// Octets: as the text that they are, or in base64.
  static func octets(_ octets: [UInt8]) -> String {
    if let text = String(validating: octets, as: UTF8.self) { return scalar(text) }
    return "!!binary \(Base64.encode(octets))"
  }

  private static func isPlain(_ text: String) -> Bool {
    guard let first = text.utf8.first, isLetter(first) || first == UInt8(ascii: "/") || isDigit(first) else {
      return false
    }
    let isSafe = text.utf8.allSatisfy { isLetter($0) || isDigit($0) || "._-/".utf8.contains($0) }
    // Digits first is an address or a number, letters alone may be a word such as `no`, which YAML 1.1 takes for false.
    let words = ["y", "n", "yes", "no", "on", "off", "true", "false", "null"]
    let isAddress = text.utf8.count { $0 == UInt8(ascii: ".") } == 3
    return isSafe && (!isDigit(first) || isAddress) && !words.contains(text.lowercased()) && CoreScalar(text) == .string
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (97...122).contains(byte) || (65...90).contains(byte) }
  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }

  private static func quoted(_ text: String) -> String {
    var result = "\""
    for scalar in text.unicodeScalars {
      switch scalar.value {
      case 0x22, 0x5c: result += "\\\(scalar)"
      case 0x0a: result += "\\n"
      case 0x09: result += "\\t"
      case 0x0d: result += "\\r"
      case 0x20..<0x7f: result.unicodeScalars.append(scalar)
      // Line separators, byte order marks and whatever else cannot be seen.
      case 0xa0..<0x2000, 0x2070..<0xd800, 0xf900..<0xfe00: result.unicodeScalars.append(scalar)
      default: result += escaped(scalar.value)
      }
    }
    return result + "\""
  }

  private static func escaped(_ value: UInt32) -> String {
    let (mark, width) = value < 0x100 ? ("x", 2) : value < 0x10000 ? ("u", 4) : ("U", 8)
    let digits = String(value, radix: 16)
    return "\\\(mark)" + String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  /// A duration, to the nanosecond.
  static func duration(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let fine = attoseconds / 1_000_000_000
    guard fine % 1_000_000 != 0, fine > 0 else { return duration.text }
    let digits = String(1_000_000 + fine % 1_000_000).dropFirst()
    let whole = seconds == 0 ? "" : Duration.seconds(seconds).text
    return "\(whole)\(fine / 1_000_000).\(digits)ms"
  }
}
