internal import ReachCore

/// Label values and label sets as the text format writes them.
///
/// Source: Prometheus' exposition format 0.0.4. Within a value a backslash, a quotation mark and a line feed are escaped
/// and everything else stands as it is.
public enum LabelText {
  /// What of a value is kept, in bytes of UTF-8 before escaping.
  public static let limit = 2048

  /// Appends a value without its quotation marks: cut on a character's boundary, escaped.
  ///
  /// A `String` holds no invalid UTF-8: what was invalid in the bytes it was made of is U+FFFD by now.
  static func append(value: String, to bytes: inout [UInt8]) {
    append(escaping: value.utf8.prefix(kept(of: value.utf8)), to: &bytes)
  }

  /// Appends `name="value"`.
  static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
    bytes.append(contentsOf: name.utf8)
    bytes.append(UInt8(ascii: "="))
    bytes.append(UInt8(ascii: "\""))
    append(value: value, to: &bytes)
    bytes.append(UInt8(ascii: "\""))
  }

  /// What a value becomes before escaping: repaired and cut. Two targets whose names are equal after this are one.
  public static func cut(_ value: String) -> String {
    let kept = kept(of: value.utf8)
    return kept == value.utf8.count ? value : String(decoding: Array(value.utf8.prefix(kept)), as: UTF8.self)
  }

  /// The label set of every series about a target, without braces: its name, then its own labels by their names.
  static func targetLabels(_ target: Target) -> [UInt8] {
    var bytes: [UInt8] = []
    append("target", target.name, to: &bytes)
    for label in target.labels.sorted(by: { $0.name < $1.name }) {
      bytes.append(UInt8(ascii: ","))
      append(label.name, label.value, to: &bytes)
    }
    return bytes
  }

  private static func kept(of utf8: String.UTF8View) -> Int {
    guard utf8.count > limit else { return utf8.count }
    var end = utf8.index(utf8.startIndex, offsetBy: limit)
    var kept = limit
    // Back out of the middle of a scalar: continuation bytes are 10xxxxxx (RFC 3629).
    while kept > 0, utf8[end] & 0xc0 == 0x80 {
      end = utf8.index(before: end)
      kept -= 1
    }
    return kept
  }

  private static func append(escaping utf8: some Sequence<UInt8>, to bytes: inout [UInt8]) {
    for byte in utf8 {
      switch byte {
      case UInt8(ascii: "\\"): bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "\\")])
      case UInt8(ascii: "\""): bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "\"")])
      case UInt8(ascii: "\n"): bytes.append(contentsOf: [UInt8(ascii: "\\"), UInt8(ascii: "n")])
      default: bytes.append(byte)
      }
    }
  }
}

extension [UInt8] {
  /// The same bytes in storage of their own size. `Array(bytes)` would share the storage, with all that it grew to.
  var fitted: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    bytes.append(contentsOf: self)
    return bytes
  }
}
