/// Collects the problems of one file while it is read, and puts them in the order of the file.
///
/// A node that is used in several places through an alias is read several times; what is wrong with it is kept once.
final class ProblemList {
  /// So many problems say that the file is not what it should be; more of them would only cost memory.
  static let limit = 10_000

  /// Whether no more problems are taken.
  var isFull: Bool { found.count >= Self.limit }

  /// The file as the user named it.
  let file: String
  /// How often something was found to be an error, the same one again included.
  private(set) var errorCount = 0
  private var isCut = false
  private var found: Set<ConfigurationProblem> = []

  init(file: String, adding earlier: [ConfigurationProblem] = []) {
    self.file = file
    found.formUnion(earlier)
  }

  func error(_ message: String, at position: TextPosition) {
    errorCount += 1
    add(.error, message, position)
  }

  func warning(_ message: String, at position: TextPosition) { add(.warning, message, position) }

  private func add(_ severity: ConfigurationProblem.Severity, _ message: String, _ position: TextPosition) {
    guard !isFull else {
      isCut = true
      return
    }
    found.insert(
      ConfigurationProblem(severity, file: file, line: position.line, column: position.column, message: message))
  }

  /// The problems in the order of the file; those of one place in the order of their texts.
  var sorted: [ConfigurationProblem] {
    var sorted = found.sorted { ($0.line, $0.column, $0.message) < ($1.line, $1.column, $1.message) }
    if isCut, let last = sorted.last {
      sorted.append(
        ConfigurationProblem(
          .error, file: file, line: last.line, column: last.column,
          message: "there are more than \(Self.limit) problems; the rest is left out"))
    }
    return sorted
  }
}
