internal import ReachConfig

/// What a value on the command line may be: what a shell can offer for it.
enum ValueKind: Hashable, Sendable {
  /// The path of a file.
  case file
  /// One of these words.
  case words([String])
  /// The name of a target in the configuration.
  case target
  /// Anything; nothing can be offered.
  case text
}

/// One option of a command, as it is written and explained.
struct OptionSpec: Sendable {
  /// With the dashes, such as `--config`.
  let flag: String
  /// What stands for the value in the usage; nil for an option without one.
  let value: String?
  /// What the value may be.
  var kind = ValueKind.text
  /// One line.
  let summary: String
  /// Whether it may be given more than once.
  var isRepeatable = false
}

extension OptionSpec {
  static let config = OptionSpec(
    flag: "--config", value: "FILE", kind: .file, summary: "the configuration (default /etc/reachd/reachd.yaml)")

  static let json = OptionSpec(flag: "--json", value: nil, summary: "print a JSON array instead")

  /// An option that takes one of the words that a type knows.
  static func choice<Word: RawRepresentable<String> & CaseIterable>(
    _ flag: String, _ value: String, of type: Word.Type
  ) -> OptionSpec {
    let words = type.allCases.map(\.rawValue)
    let list = words.dropLast().joined(separator: ", ") + " or " + (words.last ?? "")
    return OptionSpec(flag: flag, value: value, kind: .words(words), summary: list)
  }
}

/// An exit status, and when a command ends with it.
struct ExitSpec: Sendable {
  let status: Int32
  let meaning: String

  init(_ status: Int32, _ meaning: String) {
    self.status = status
    self.meaning = meaning
  }
}
