/// The examples in the comments of the delivered configurations: lines that begin with a `#` and no space, or with more
/// than one. What is prose has exactly one.
enum ExampleComments {
  /// The text with its examples in force.
  static func uncommented(_ text: String) -> String {
    text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
      let indent = line.prefix { $0 == " " }
      let rest = line.dropFirst(indent.count)
      guard rest.first == "#", !isProse(rest.dropFirst()) else { return String(line) }
      return indent + String(rest.dropFirst())
    }.joined(separator: "\n")
  }

  private static func isProse(_ text: Substring) -> Bool {
    text.isEmpty || text.prefix { $0 == " " }.count == 1
  }
}
