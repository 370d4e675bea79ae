extension String {
  /// Whether `part` stands anywhere in the text, byte for byte.
  ///
  /// The standard library's own search comes with the regular expression engine, which would stay in memory for it.
  func holds(_ part: String) -> Bool {
    let (text, part) = (Array(utf8), Array(part.utf8))
    guard !part.isEmpty, part.count <= text.count else { return part.isEmpty }
    return (0...(text.count - part.count)).contains { text[$0..<($0 + part.count)].elementsEqual(part) }
  }
}
