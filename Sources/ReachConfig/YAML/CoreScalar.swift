/// What a scalar without quotes is, by YAML 1.2's core schema (section 10.3.2), with what older readers see in it.
enum CoreScalar: Hashable {
  case null
  case boolean(Bool)
  /// A whole number, in decimal, octal (`0o17`) or hexadecimal.
  case integer
  /// Any other number, `.inf` and `.nan` among them.
  case float
  /// A number to YAML 1.1 and another one, or none, to YAML 1.2: `0100` and `1:30`.
  case ambiguous
  case string

  init(_ text: String) {
    guard let first = text.utf8.first else {
      self = .null
      return
    }
    // Most texts begin like none of the words and numbers below.
    guard Self.beginnings.contains(first) else {
      self = .string
      return
    }
    switch text {
    case "~", "null", "Null", "NULL": self = .null
    case "true", "True", "TRUE": self = .boolean(true)
    case "false", "False", "FALSE": self = .boolean(false)
    case ".nan", ".NaN", ".NAN": self = .float
    default: self = Self.number(Array(text.utf8.prefix(Self.longestNumber + 1)))
    }
  }

  private static let beginnings = Set("0123456789+-.~nNtTfF".utf8)

  /// A longer text is no number that anybody means.
  private static let longestNumber = 64

  private static func number(_ bytes: [UInt8]) -> CoreScalar {
    guard bytes.count <= longestNumber else { return .string }
    var body = bytes[...]
    if let sign = body.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { body = body.dropFirst() }
    guard let first = body.first else { return .string }
    let rest = body.dropFirst()
    if [".inf", ".Inf", ".INF"].contains(where: { body.elementsEqual($0.utf8) }) { return .float }
    if first == UInt8(ascii: "0"), let mark = rest.first, rest.count > 1, body.count == bytes.count {
      let digits = rest.dropFirst()
      if mark == UInt8(ascii: "o"), digits.allSatisfy({ (48...55).contains($0) }) { return .integer }
      if mark == UInt8(ascii: "x"), digits.allSatisfy(isHexadecimal) { return .integer }
    }
    if body.allSatisfy(isDigit) { return first == UInt8(ascii: "0") && !rest.isEmpty ? .ambiguous : .integer }
    if isSexagesimal(body) { return .ambiguous }
    return isFloat(body) ? .float : .string
  }

  /// Numbers joined by colons, which YAML 1.1 reads in base 60.
  private static func isSexagesimal(_ body: ArraySlice<UInt8>) -> Bool {
    let parts = body.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
    return parts.count > 1 && parts.allSatisfy { !$0.isEmpty && $0.allSatisfy(isDigit) }
      && parts.dropFirst().allSatisfy { $0.count == 1 || $0.count == 2 && $0.first.map { $0 < 54 } == true }
  }

  private static func isFloat(_ body: ArraySlice<UInt8>) -> Bool {
    var rest = body
    let whole = rest.prefix(while: isDigit)
    rest = rest.dropFirst(whole.count)
    var fraction = rest.prefix(0)
    if rest.first == UInt8(ascii: ".") {
      fraction = rest.dropFirst().prefix(while: isDigit)
      rest = rest.dropFirst(1 + fraction.count)
    }
    guard !whole.isEmpty || !fraction.isEmpty else { return false }
    guard let mark = rest.first else { return true }
    guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") else { return false }
    rest = rest.dropFirst()
    if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest = rest.dropFirst() }
    return !rest.isEmpty && rest.allSatisfy(isDigit)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (48...57).contains(byte) }
  private static func isHexadecimal(_ byte: UInt8) -> Bool {
    isDigit(byte) || (65...70).contains(byte) || (97...102).contains(byte)
  }
}
