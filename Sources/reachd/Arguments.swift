/// The words of a command line, sorted by the command's own table.
struct Arguments: Equatable {
  /// Values by option; an option without a value has an empty one.
  var options: [String: [String]] = [:]
  /// What is no option.
  var operands: [String] = []

  /// Whether the option was given.
  func has(_ flag: String) -> Bool { options[flag] != nil }
  /// The value given last.
  func last(_ flag: String) -> String? { options[flag]?.last }
}

/// A command line that cannot be understood: one line that says why.
struct UsageError: Error, Equatable {
  let message: String
  /// The command whose usage helps; nil for the program's own.
  var command: String?
}

/// What a command line asks for.
enum Invocation: Equatable {
  /// The usage of the program, or of one command.
  case help(command: String?)
  case version
  case command(String, Arguments)
}

extension Invocation {
  /// Reads the words behind the program's name.
  static func parse(_ words: [String]) throws(UsageError) -> Invocation {
    guard let first = words.first else { throw UsageError(message: "a command is needed") }
    switch first {
    case "--help", "-h": return .help(command: nil)
    case "help" where words.count == 1: return .help(command: nil)
    case "help": return .help(command: try command(words[1]).name)
    case "--version": return .version
    default: break
    }
    let spec = try command(first)
    if words.contains("--help") || words.contains("-h") { return .help(command: spec.name) }
    return .command(spec.name, try parse(words.dropFirst(), by: spec))
  }

  private static func command(_ word: String) throws(UsageError) -> CommandSpec {
    if let spec = CommandSpec.all.first(where: { $0.name == word }) { return spec }
    let kind = word.hasPrefix("-") ? "option" : "command"
    throw UsageError(message: "there is no \(kind) '\(word)'")
  }

  private static func parse(_ words: ArraySlice<String>, by spec: CommandSpec) throws(UsageError) -> Arguments {
    var arguments = Arguments()
    var rest = words
    while let word = rest.popFirst() {
      if word == "--" {
        arguments.operands += rest
        break
      }
      guard word.hasPrefix("-"), word != "-" else {
        arguments.operands.append(word)
        continue
      }
      let (flag, inlineValue) = split(word)
      guard let option = spec.options.first(where: { $0.flag == flag }) else {
        throw UsageError(message: "\(spec.name) has no option '\(flag)'", command: spec.name)
      }
      var value = ""
      if let placeholder = option.value {
        guard let given = inlineValue ?? rest.popFirst() else {
          throw UsageError(message: "\(flag) needs \(placeholder)", command: spec.name)
        }
        value = given
      } else if inlineValue != nil {
        throw UsageError(message: "\(flag) takes no value", command: spec.name)
      }
      if arguments.has(flag), !option.isRepeatable {
        throw UsageError(message: "\(flag) is given twice", command: spec.name)
      }
      arguments.options[flag, default: []].append(value)
    }
    if spec.arguments == nil, let stray = arguments.operands.first {
      throw UsageError(message: "\(spec.name) takes no argument, but '\(stray)' is given", command: spec.name)
    }
    if let needed = spec.arguments, arguments.operands.isEmpty {
      throw UsageError(message: "\(spec.name) needs \(needed)", command: spec.name)
    }
    return arguments
  }

  private static func split(_ word: String) -> (flag: String, value: String?) {
    guard word.hasPrefix("--"), let equals = word.firstIndex(of: "=") else { return (word, nil) }
    return (String(word[..<equals]), String(word[word.index(after: equals)...]))
  }
}
