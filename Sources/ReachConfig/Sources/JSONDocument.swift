internal import CJansson

/// A JSON text that has been read by libjansson. Its nodes may be used while it lives.
@safe
final class JSONDocument {
  /// More values than this are refused: what libjansson makes of each takes more memory than its text.
  static let valueLimit = 1_000_000

  private let handle: UnsafeMutablePointer<json_t>

  /// Reads a text. Throws with libjansson's word for what is wrong, and its line. What `JSONMending` says is no reason to
  /// refuse it; a text may hold NUL.
  init(parsing bytes: [UInt8]) throws(ValueError) {
    guard Self.valueCount(bytes) <= Self.valueLimit else {
      throw ValueError("it holds more than \(Self.valueLimit) values; split it")
    }
    var error = json_error_t()
    let read = unsafe JSONMending.mended(bytes).withUnsafeBytes { buffer in
      let text = unsafe buffer.baseAddress?.assumingMemoryBound(to: CChar.self)
      return unsafe json_loadb(text, buffer.count, Int(JSON_DECODE_ANY | JSON_ALLOW_NUL), &error)
    }
    guard let handle = unsafe read else {
      let reason = unsafe withUnsafeBytes(of: error.text) { text in
        unsafe String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
      }
      throw ValueError("line \(max(1, error.line)): this is not valid JSON: \(quoted(reason))")
    }
    unsafe self.handle = handle
  }

  deinit { unsafe json_decref(handle) }

  var root: JSONNode { unsafe JSONNode(document: self, handle: handle) }

  /// An upper bound on how many values the text can hold: each but the first follows a comma, a colon or a bracket.
  private static func valueCount(_ bytes: [UInt8]) -> Int {
    1 + bytes.count { $0 == UInt8(ascii: ",") || $0 == UInt8(ascii: "[") || $0 == UInt8(ascii: "{") }
  }
}

/// One value of a document.
@safe
struct JSONNode: GroupNode {
  /// Keeps what `handle` points to.
  private let document: JSONDocument
  private let handle: UnsafeMutablePointer<json_t>

  fileprivate init(document: JSONDocument, handle: UnsafeMutablePointer<json_t>) {
    self.document = document
    unsafe self.handle = handle
  }

  var shape: GroupShape {
    switch unsafe handle.pointee.type {
    case JSON_NULL: .null
    case JSON_STRING: .text(text)
    case JSON_ARRAY: .list
    case JSON_OBJECT: .map
    default: .other
    }
  }

  private var text: String {
    guard let start = unsafe json_string_value(handle) else { return "" }
    let bytes = unsafe UnsafeRawBufferPointer(start: start, count: json_string_length(handle))
    return unsafe String(decoding: bytes, as: UTF8.self)
  }

  var count: Int { unsafe json_array_size(handle) }

  func forEachElement(_ body: (JSONNode) -> Void) {
    for index in 0..<count {
      guard let element = unsafe json_array_get(handle, index) else { continue }
      unsafe body(JSONNode(document: document, handle: element))
    }
  }

  func forEachEntry(_ body: (String, JSONNode) -> Void) {
    var entry = unsafe json_object_iter(handle)
    while let current = unsafe entry {
      if let key = unsafe json_object_iter_key(current), let value = unsafe json_object_iter_value(current) {
        unsafe body(String(cString: key), JSONNode(document: document, handle: value))
      }
      unsafe entry = unsafe json_object_iter_next(handle, current)
    }
  }
}
