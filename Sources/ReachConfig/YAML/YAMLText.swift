/// A file's bytes, found to be UTF-8 that YAML allows.
struct YAMLText {
  /// Why bytes are no YAML text, and where.
  struct Refusal: Error {
    let position: TextPosition
    let message: String
  }

  /// More than any configuration needs: ten thousand targets, each with all its options, take about a quarter.
  static let sizeLimit = 16 << 20

  /// The text without a byte order mark.
  let bytes: [UInt8]

  init(_ input: [UInt8]) throws(Refusal) {
    guard input.count <= Self.sizeLimit else {
      throw Refusal(
        position: .start, message: "the file is larger than \(Self.sizeLimit >> 20) MiB; split the targets over agents")
    }
    if input.starts(with: [0xff, 0xfe]) || input.starts(with: [0xfe, 0xff]) {
      throw Refusal(position: .start, message: "the file is UTF-16; save it as UTF-8")
    }
    let body = input.starts(with: [0xef, 0xbb, 0xbf]) ? Array(input.dropFirst(3)) : input
    try Self.check(body)
    bytes = body
  }

  private static func check(_ bytes: [UInt8]) throws(Refusal) {
    var index = 0
    var line = 1
    var column = 1
    while index < bytes.count {
      let byte = bytes[index]
      if byte < 0x80 {
        if byte == 0x0a || (byte == 0x0d && !(index + 1 < bytes.count && bytes[index + 1] == 0x0a)) {
          line += 1
          column = 0
        } else if byte < 0x20 && byte != 0x09 && byte != 0x0d || byte == 0x7f {
          throw Refusal(
            position: TextPosition(line: line, column: column),
            message: "a control character (0x\(hexadecimal(byte))) stands here, which YAML forbids; remove it")
        }
        index += 1
      } else {
        guard let length = sequenceLength(bytes[index...]) else {
          throw Refusal(
            position: TextPosition(line: line, column: column),
            message: "the byte 0x\(hexadecimal(byte)) is not valid UTF-8; save the file as UTF-8")
        }
        index += length
      }
      column += 1
    }
  }

  /// The length of the well-formed sequence (Unicode, table 3-7) that these bytes begin with; nil when they do not.
  private static func sequenceLength(_ bytes: ArraySlice<UInt8>) -> Int? {
    let start = bytes.startIndex
    let second: ClosedRange<UInt8>
    let length: Int
    switch bytes[start] {
    case 0xc2...0xdf: (length, second) = (2, 0x80...0xbf)
    case 0xe0: (length, second) = (3, 0xa0...0xbf)
    case 0xed: (length, second) = (3, 0x80...0x9f)
    case 0xe1...0xef: (length, second) = (3, 0x80...0xbf)
    case 0xf0: (length, second) = (4, 0x90...0xbf)
    case 0xf1...0xf3: (length, second) = (4, 0x80...0xbf)
    case 0xf4: (length, second) = (4, 0x80...0x8f)
    default: return nil
    }
    guard bytes.count >= length, second.contains(bytes[start + 1]) else { return nil }
    return bytes[(start + 1)..<(start + length)].allSatisfy { (0x80...0xbf).contains($0) } ? length : nil
  }

  private static func hexadecimal(_ byte: UInt8) -> String {
    (byte < 16 ? "0" : "") + String(byte, radix: 16)
  }

  /// The column at which a tab stands in the line's indentation; nil when there is none.
  func tabInIndentation(ofLine wanted: Int) -> Int? {
    var line = 1
    var isIndentation = true
    var column = 1
    for (index, byte) in bytes.enumerated() {
      if byte == 0x0a || (byte == 0x0d && !(index + 1 < bytes.count && bytes[index + 1] == 0x0a)) {
        line += 1
        column = 1
        isIndentation = true
        if line > wanted { return nil }
        continue
      }
      guard line == wanted, isIndentation else { continue }
      if byte == 0x09 { return column }
      isIndentation = byte == 0x20
      column += 1
    }
    return nil
  }
}
