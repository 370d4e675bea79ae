/// Makes single values fit for libjansson that it refuses the whole text for, though they are valid by RFC 8259: numbers
/// that no double holds, NUL in the name of a member, and halves of surrogate pairs, which Go reads as U+FFFD.
///
/// Nothing moves: what is wrong beside is found in the line that it is in.
struct JSONMending {
  private static let quote = UInt8(ascii: "\"")
  private static let backslash = UInt8(ascii: "\\")
  /// Numbers of so few octets without an exponent fit every type.
  private static let shortNumber = 15

  private var bytes: [UInt8]
  private var index = 0

  /// The text with these values replaced by others of the same length: numbers by 0, characters by U+FFFD.
  static func mended(_ bytes: [UInt8]) -> [UInt8] {
    var mending = JSONMending(bytes: bytes)
    mending.run()
    return mending.bytes
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  private mutating func run() {
    while index < bytes.count {
      switch bytes[index] {
      case Self.quote: passString()
      case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): passNumber()
      default: index += 1
      }
    }
  }

  // MARK: Numbers

  private mutating func passNumber() {
    let start = index
    var hasExponent = false
    scan: while index < bytes.count {
      switch bytes[index] {
      case UInt8(ascii: "e"), UInt8(ascii: "E"): hasExponent = true
      case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."): break
      default: break scan
      }
      index += 1
    }
    guard hasExponent || index - start > Self.shortNumber, Self.isNumber(bytes[start..<index]) else { return }
    bytes[start] = UInt8(ascii: "0")
    for place in start + 1..<index { bytes[place] = UInt8(ascii: " ") }
  }

  /// Whether it is a number by RFC 8259, section 6.
  private static func isNumber(_ token: ArraySlice<UInt8>) -> Bool {
    var rest = token
    func isDigit(_ octet: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= octet }
    func dropDigits() -> Bool {
      let digits = rest.prefix(while: isDigit).count
      rest = rest.dropFirst(digits)
      return digits > 0
    }
    if rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
    if rest.first == UInt8(ascii: "0") {
      rest = rest.dropFirst()
    } else if !dropDigits() {
      return false
    }
    if rest.first == UInt8(ascii: ".") {
      rest = rest.dropFirst()
      guard dropDigits() else { return false }
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest = rest.dropFirst()
      if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest = rest.dropFirst() }
      guard dropDigits() else { return false }
    }
    return rest.isEmpty
  }

  // MARK: Texts

  private mutating func passString() {
    var nuls: [Int] = []
    index += 1
    while index < bytes.count {
      switch bytes[index] {
      case Self.quote:
        index += 1
        if !nuls.isEmpty, isBeforeColon { for nul in nuls { replace(nul) } }
        return
      case Self.backslash: passEscape(&nuls)
      default: index += 1
      }
    }
  }

  private var isBeforeColon: Bool {
    bytes[index...].first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) } == UInt8(ascii: ":")
  }

  private mutating func passEscape(_ nuls: inout [Int]) {
    let start = index
    guard let unit = unit(at: start) else {
      index += 2
      return
    }
    index += 6
    switch unit {
    case 0: nuls.append(start)
    case 0xd800..<0xdc00:
      if let second = self.unit(at: index), 0xdc00..<0xe000 ~= second { index += 6 } else { replace(start) }
    case 0xdc00..<0xe000: replace(start)
    default: break
    }
  }

  /// What an escape of four hexadecimal digits at this place stands for; nil when there is something else.
  private func unit(at place: Int) -> UInt16? {
    guard bytes.count - place >= 6, bytes[place] == Self.backslash, bytes[place + 1] == UInt8(ascii: "u") else {
      return nil
    }
    var value: UInt16 = 0
    for octet in bytes[place + 2..<place + 6] {
      guard let digit = Self.digit(octet) else { return nil }
      value = value << 4 | digit
    }
    return value
  }

  private static func digit(_ octet: UInt8) -> UInt16? {
    switch octet {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt16(octet &- UInt8(ascii: "0"))
    case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt16(octet &- UInt8(ascii: "a")) + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt16(octet &- UInt8(ascii: "A")) + 10
    default: nil
    }
  }

  private mutating func replace(_ escape: Int) { bytes.replaceSubrange(escape + 2..<escape + 6, with: "fffd".utf8) }
}
