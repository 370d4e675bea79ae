internal import Glibc
internal import ReachConfig
internal import ReachCore
internal import ReachIO
internal import ReachLog

/// The log as the configuration has it.
extension LogLevel {
  init(_ level: LogSettings.Level) {
    switch level {
    case .debug: self = .debug
    case .info: self = .info
    case .warning: self = .warning
    case .error: self = .error
    }
  }
}

extension LogFormat {
  init(_ settings: LogSettings, isColoured: Bool) {
    switch settings.format ?? .json {
    case .json: self = .json
    case .logfmt: self = .logfmt
    case .text: self = .text(colour: isColoured)
    }
  }
}

extension LogOutput {
  init(_ output: LogSettings.Output) {
    switch output {
    case .standardError: self = .standardError
    case .standardOutput: self = .standardOutput
    case .file(let path): self = .file(path: path)
    }
  }
}

extension LogSettings {
  /// What to do about a log file that may not be written; nil where the log is no file.
  var remedy: String? {
    guard case .file(let path) = output, let slash = path.lastIndex(of: "/") else { return nil }
    return Surroundings.current.remedy(for: .writing(slash == path.startIndex ? "/" : String(path[..<slash])))
  }

  /// Why the log cannot be written, for people.
  func refusal(_ error: any Error) -> String {
    let text = "the log cannot be written (\(error)): see log.output in the configuration"
    guard let errno = (error as? SystemError)?.code.errno, [EACCES, EPERM, EROFS].contains(errno) else { return text }
    return text + (remedy.map { "; " + $0 } ?? "")
  }
}
