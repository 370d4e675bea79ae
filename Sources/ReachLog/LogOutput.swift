/// Where log lines go.
public enum LogOutput: Hashable, Sendable {
  /// Standard error, as inherited.
  case standardError
  /// Standard output, as inherited.
  case standardOutput
  /// A file that is added to, and made when it does not exist.
  case file(path: String)

  /// The file's path.
  var path: String? { if case .file(let path) = self { path } else { nil } }
}
