/// What a page shows of a command's output, to be held against what the command prints.
///
/// Both are compared word by word, so that columns may be aligned in any way. Times, durations and version numbers
/// stand for any of their kind. `…` alone stands for any words, also none; within a word for any letters.
struct ShownOutput {
  private let pattern: [String]

  /// The lines of a page.
  init(_ lines: [String]) { pattern = Self.words(lines.joined(separator: "\n")) }

  /// Whether the command may have printed this.
  func fits(_ output: String) -> Bool { Self.match(pattern[...], Self.words(output)[...]) }

  /// The words that are compared.
  static func words(_ text: String) -> [String] {
    var words: [String] = []
    for word in text.split(whereSeparator: \.isWhitespace) {
      // A number and its unit, such as `1.09 ms`, are one duration.
      if units.contains(bare(word)), let last = words.last, last.wholeMatch(of: /[0-9]+(\.[0-9]+)?/) != nil {
        words[words.count - 1] = general(last[...] + word)
      } else {
        words.append(general(word))
      }
    }
    return words
  }

  private static let units: Set<Substring> = ["ns", "µs", "us", "ms", "s"]

  private static func bare(_ word: Substring) -> Substring {
    let trimmed = word.reversed().drop { ",;:.)]}".contains($0) }
    return word.prefix(trimmed.count)
  }

  /// The word with what changes from run to run replaced by its kind.
  private static func general(_ word: Substring) -> String {
    String(word)
      .replacing(/[0-9]{4}-[0-9]{2}-[0-9]{2}([T ][0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z?)?/, with: "<time>")
      .replacing(/\b[0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]+)?Z?/, with: "<time>")
      .replacing(/(^|[^0-9A-Za-z.:])([0-9]+(\.[0-9]+)?(ns|µs|us|ms|[smhdw]))+($|(?=[^0-9A-Za-z:]))/) {
        $0.output.1 + "<duration>"
      }
      .replacing(/(^|[^0-9.])[0-9]+\.[0-9]+\.[0-9]+($|(?=[^0-9.]))/) { $0.output.1 + "<version>" }
  }

  private static func match(_ pattern: ArraySlice<String>, _ words: ArraySlice<String>) -> Bool {
    guard let first = pattern.first else { return words.isEmpty }
    if first == "…" {
      let rest = pattern.dropFirst()
      return words.indices.contains { match(rest, words[$0...]) } || match(rest, words[words.endIndex...])
    }
    guard let word = words.first, fits(first, word) else { return false }
    return match(pattern.dropFirst(), words.dropFirst())
  }

  /// Whether the word has the parts around each `…` in their order.
  private static func fits(_ pattern: String, _ word: String) -> Bool {
    let parts = pattern.split(separator: "…", omittingEmptySubsequences: false)
    guard parts.count > 1, let first = parts.first, let last = parts.last else { return pattern == word }
    guard word.hasPrefix(first), word.hasSuffix(last), word.count >= first.count + last.count else { return false }
    var rest = word.dropFirst(first.count).dropLast(last.count)
    for part in parts.dropFirst().dropLast() where !part.isEmpty {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return true
  }
}
