/// Labels as protocol buffers have them, made of their text: `,status="Unknown",to="x\n"} ` becomes two LabelPairs.
enum LabelPairs {
  static func append(_ labels: [UInt8], to metric: inout ByteWriter) {
    unsafe labels.withUnsafeBufferPointer { unsafe append($0, to: &metric) }
  }

  /// The text is our own, so that what does not look like labels is their end.
  static func append(_ text: UnsafeBufferPointer<UInt8>, to metric: inout ByteWriter) {
    var index = 0
    while index < text.count {
      let byte = unsafe text[index]
      if byte == UInt8(ascii: ",") {
        index += 1
        continue
      }
      let name = index
      while index < text.count, unsafe isNameByte(text[index]) { index += 1 }
      guard index > name, index + 1 < text.count, unsafe text[index] == UInt8(ascii: "=") else { return }
      let nameEnd = index
      index += 2
      metric.append(field: 1) { pair in
        pair.append(field: 1) { field in
          for place in name..<nameEnd { unsafe field.append(text[place]) }
        }
        pair.append(field: 2) { field in unsafe appendValue(text, &index, to: &field) }
      }
    }
  }

  /// Appends the value that begins there, without its escapes, and goes behind its closing quotation mark.
  private static func appendValue(
    _ text: UnsafeBufferPointer<UInt8>, _ index: inout Int, to field: inout ByteWriter
  ) {
    while index < text.count {
      let byte = unsafe text[index]
      index += 1
      switch byte {
      case UInt8(ascii: "\""): return
      case UInt8(ascii: "\\") where index < text.count:
        let escaped = unsafe text[index]
        field.append(escaped == UInt8(ascii: "n") ? UInt8(ascii: "\n") : escaped)
        index += 1
      default: field.append(byte)
      }
    }
  }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}
