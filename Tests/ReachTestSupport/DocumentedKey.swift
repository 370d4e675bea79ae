/// A key as `docs/configuration.md` documents it: "- `key` *type*, default `value`. What it does."
public struct DocumentedKey: Hashable, Sendable {
  /// The heading that it stands under, without backticks.
  public let section: String
  /// Its name.
  public let name: String
  /// The words between asterisks.
  public let type: String
  /// The value that holds without it, as YAML; nil where it is told in words, or there is none.
  public let defaultValue: String?
  /// Everything behind the type, in one line.
  public let text: String

  /// Every key of the page in order. A line that begins like one and is none is left out.
  public static func all(in page: String) -> [DocumentedKey] {
    var keys: [DocumentedKey] = []
    var section = ""
    for paragraph in paragraphs(page) {
      if paragraph.hasPrefix("#") {
        section = String(paragraph.drop { $0 == "#" || $0 == " " }.filter { $0 != "`" })
      } else if let match = paragraph.wholeMatch(of: /- `([a-z0-9_]+)` \*([^*]+)\*(.*)/)?.output {
        let value = match.3.prefixMatch(of: #/, default `([^`]+)`\. /#).map { String($0.output.1) }
        keys.append(
          DocumentedKey(
            section: section, name: String(match.1), type: String(match.2), defaultValue: value,
            text: String(match.3)))
      } else if let match = paragraph.wholeMatch(of: /- ((?:`[a-z_]+`,? ?)+)\. As in .*/)?.output {
        for name in match.1.matches(of: /`([a-z_]+)`/) {
          keys.append(
            DocumentedKey(
              section: section, name: String(name.output.1), type: "as elsewhere", defaultValue: nil, text: ""))
        }
      }
    }
    return keys
  }

  /// Headings and the items of lists, each in one line; what stands in fences is left out.
  private static func paragraphs(_ page: String) -> [String] {
    var paragraphs: [String] = []
    var isFenced = false
    for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") { isFenced.toggle() }
      if isFenced { continue }
      if line.hasPrefix("  "), let last = paragraphs.last, last.hasPrefix("- ") {
        paragraphs[paragraphs.count - 1] = last + " " + String(line.drop { $0 == " " })
      } else {
        paragraphs.append(String(line))
      }
    }
    return paragraphs
  }
}
