internal import ReachConfig
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
