/// A place in a file.
struct TextPosition: Hashable, Comparable, Sendable {
  /// The line, from 1.
  let line: Int
  /// The column, from 1, in characters.
  let column: Int

  static let start = TextPosition(line: 1, column: 1)

  static func < (left: TextPosition, right: TextPosition) -> Bool {
    (left.line, left.column) < (right.line, right.column)
  }
}
