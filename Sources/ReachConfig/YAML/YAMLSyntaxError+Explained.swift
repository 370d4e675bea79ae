extension YAMLSyntaxError {
  /// The error in words that say what to do, and the place to look at.
  func explained(in source: YAMLText) -> (message: String, position: TextPosition) {
    if let column = source.tabInIndentation(ofLine: position.line) {
      return (
        "a tab indents this line; YAML allows only spaces there", TextPosition(line: position.line, column: column)
      )
    }
    var message = "this is not valid YAML: \(problem)"
    if let context {
      message += " \(context.text)"
      if context.position.line != position.line { message += " that begins on line \(context.position.line)" }
    }
    if let hint = Self.hints.first(where: { problem.holds($0.sign) || context?.text.holds($0.sign) == true }) {
      message += "; \(hint.remedy)"
    }
    return (message, position)
  }

  /// What usually lies behind an error of libyaml's, the more particular first.
  private static let hints: [(sign: String, remedy: String)] = [
    ("<document start>", "a file is one document; remove what stands behind '...'"),
    ("mapping values are not allowed", "check the indentation, and quote a text that holds ': '"),
    ("cannot start any token", "put a text that begins with this character in quotes"),
    ("an alias", "put a text that begins with '*' in quotes"),
    ("an anchor", "put a text that begins with '&' in quotes"),
    ("a simple key", "write a colon and a space behind the key"),
    ("expected key", "check the indentation, and the quotes and brackets before it"),
    (
      "expected '-' indicator", "check the indentation, and quote an address in brackets, such as \"[2001:db8::1]:443\""
    ),
    ("unexpected end of stream", "close the quotes"),
    ("expected ',' or", "separate with commas, and close the bracket"),
    ("a quoted scalar", "close the quotes"),
  ]
}
