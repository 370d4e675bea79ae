/// Something that is wrong, or doubtful, in a configuration: where it is, what it is and what to do about it.
public struct ConfigurationProblem: Hashable, Sendable, CustomStringConvertible {
  /// How bad it is.
  public enum Severity: String, Hashable, Sendable {
    /// The file cannot be used.
    case error
    /// The file can be used, though perhaps not as its writer meant.
    case warning
  }

  /// How bad it is.
  public let severity: Severity
  /// The file as the user named it.
  public let file: String
  /// The line, from 1.
  public let line: Int
  /// The column, from 1, in characters.
  public let column: Int
  /// What is wrong and what to write instead.
  public let message: String

  /// A problem at that place.
  public init(_ severity: Severity, file: String, line: Int, column: Int, message: String) {
    self.severity = severity
    self.file = file
    self.line = line
    self.column = column
    self.message = message
  }

  /// `FILE:LINE:COLUMN: error: MESSAGE`, as compilers write it.
  public var description: String { "\(file):\(line):\(column): \(severity.rawValue): \(message)" }
}
