/// A JSON text as a value (RFC 8259), members of objects in the order they stand.
enum JSON: Hashable {
  struct Member: Hashable {
    let name: String
    let value: JSON
  }

  case null
  case boolean(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([Member])

  /// The member's value; nil in what is no object or has none of that name.
  subscript(name: String) -> JSON? {
    if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
  }

  /// The element; nil in what is no array or shorter.
  subscript(index: Int) -> JSON? {
    if case .array(let elements) = self, elements.indices.contains(index) { elements[index] } else { nil }
  }

  var text: String? { if case .string(let text) = self { text } else { nil } }
  var number: Double? { if case .number(let number) = self { number } else { nil } }
  var elements: [JSON] { if case .array(let elements) = self { elements } else { [] } }
  var names: [String] { if case .object(let members) = self { members.map(\.name) } else { [] } }
}

/// Why a text is no JSON.
struct JSONError: Error, CustomStringConvertible {
  let offset: Int
  let text: String
  var description: String { "no JSON at byte \(offset): \(text)" }
}

extension JSON {
  /// Reads a whole text, strictly: nothing that the grammar lacks, no name twice in one object.
  init(parsing text: String) throws(JSONError) {
    var reader = JSONReader(text)
    self = try reader.whole()
  }
}

private struct JSONReader {
  private let text: String
  private let bytes: [UInt8]
  private var position = 0
  private var depth = 0

  init(_ text: String) {
    self.text = text
    bytes = Array(text.utf8)
  }

  mutating func whole() throws(JSONError) -> JSON {
    let value = try value()
    skipSpace()
    guard position == bytes.count else { throw error() }
    return value
  }

  private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

  private func error() -> JSONError { JSONError(offset: position, text: String(text.prefix(2000))) }

  private mutating func skipSpace() {
    while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
  }

  private mutating func take(_ character: Character) -> Bool {
    guard next == character.asciiValue else { return false }
    position += 1
    return true
  }

  private mutating func take(word: String) -> Bool {
    guard bytes[position...].starts(with: word.utf8) else { return false }
    position += word.utf8.count
    return true
  }

  private mutating func value() throws(JSONError) -> JSON {
    skipSpace()
    if take("{") { return try nested { (reader) throws(JSONError) in try reader.object() } }
    if take("[") { return try nested { (reader) throws(JSONError) in try reader.array() } }
    if take("\"") { return .string(try string()) }
    if take(word: "null") { return .null }
    if take(word: "true") { return .boolean(true) }
    if take(word: "false") { return .boolean(false) }
    return .number(try number())
  }

  private mutating func nested(
    _ body: (inout JSONReader) throws(JSONError) -> JSON
  ) throws(JSONError) -> JSON {
    depth += 1
    guard depth < 64 else { throw error() }
    let value = try body(&self)
    depth -= 1
    return value
  }

  private mutating func object() throws(JSONError) -> JSON {
    var members: [JSON.Member] = []
    skipSpace()
    if take("}") { return .object([]) }
    repeat {
      skipSpace()
      guard take("\"") else { throw error() }
      let name = try string()
      skipSpace()
      guard take(":"), !members.contains(where: { $0.name == name }) else { throw error() }
      members.append(JSON.Member(name: name, value: try value()))
      skipSpace()
    } while take(",")
    guard take("}") else { throw error() }
    return .object(members)
  }

  private mutating func array() throws(JSONError) -> JSON {
    var elements: [JSON] = []
    skipSpace()
    if take("]") { return .array([]) }
    repeat {
      elements.append(try value())
      skipSpace()
    } while take(",")
    guard take("]") else { throw error() }
    return .array(elements)
  }

  private mutating func string() throws(JSONError) -> String {
    var units: [UInt8] = []
    while let byte = next, byte >= 0x20 {
      position += 1
      switch byte {
      case UInt8(ascii: "\""):
        guard let text = String(validating: units, as: UTF8.self) else { throw error() }
        return text
      case UInt8(ascii: "\\"): units += try escape()
      default: units.append(byte)
      }
    }
    throw error()
  }

  private mutating func escape() throws(JSONError) -> [UInt8] {
    let plain: [Character: UInt8] = [
      "\"": 0x22, "\\": 0x5c, "/": 0x2f, "b": 0x08, "f": 0x0c, "n": 0x0a, "r": 0x0d, "t": 0x09,
    ]
    for (character, byte) in plain where take(character) { return [byte] }
    guard take("u") else { throw error() }
    var code = try fourDigits()
    if (0xd800..<0xdc00).contains(code) {
      guard take(word: "\\u") else { throw error() }
      let low = try fourDigits()
      guard (0xdc00..<0xe000).contains(low) else { throw error() }
      code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
    }
    guard let scalar = Unicode.Scalar(code) else { throw error() }
    return Array(String(Character(scalar)).utf8)
  }

  private mutating func fourDigits() throws(JSONError) -> UInt32 {
    guard position + 4 <= bytes.count else { throw error() }
    let digits = bytes[position..<position + 4]
    guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }),
      let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw error() }
    position += 4
    return code
  }

  private mutating func number() throws(JSONError) -> Double {
    let start = position
    _ = take("-")
    if !take("0") { try digits() }
    if take(".") { try digits() }
    if take("e") || take("E") {
      if !take("+") { _ = take("-") }
      try digits()
    }
    guard let number = Double(String(decoding: bytes[start..<position], as: UTF8.self)) else { throw error() }
    return number
  }

  private mutating func digits() throws(JSONError) {
    let start = position
    while let byte = next, (48...57).contains(byte) { position += 1 }
    guard position > start else { throw error() }
  }
}
