/// The completion script for zsh: to be sourced, or put into a folder of `fpath` as `_reachd`.
enum ZshCompletion {
  static var script: String {
    """
    #compdef reachd
    # Completes command lines of reachd in zsh. Made by: reachd completion zsh

    _reachd_targets() {
      local -a names config
      [[ -n ${opt_args[--config]} ]] && config=(--config "${(Q)opt_args[--config]}")
      names=("${(@f)$(_call_program targets "${(q)program}" completion targets "${(q)config[@]}" 2>/dev/null)}")
      compadd -a -- names
    }

    _reachd_commands() {
      local -a commands
      commands=(
    \(CommandSpec.all.map { "    \(quoted($0.name + ":" + $0.summary))" }.joined(separator: "\n"))
        'help:explains a command'
      )
      _describe command commands
    }

    _reachd() {
      local curcontext=$curcontext program=$words[1] state line
      local -A opt_args
      _arguments -C \\
        '(- *)'{-h,--help}'[explain the program]' \\
        '(- *)--version[print the version]' \\
        '1: :_reachd_commands' \\
        '*:: :->arguments'
      [[ $state == arguments ]] || return
      case $words[1] in
        help) _arguments '1: :_reachd_commands' ;;
    \(CommandSpec.all.map(command).joined(separator: "\n"))
      esac
    }

    if [[ $funcstack[1] == _reachd ]]; then _reachd "$@"; else compdef _reachd reachd; fi

    """
  }

  private static func command(_ spec: CommandSpec) -> String {
    var lines = spec.options.map { option in
      let lead = (option.isRepeatable ? "*" : "") + option.flag
      guard let value = option.value else { return quoted("\(lead)[\(escaped(option.summary))]") }
      return quoted("\(lead)=[\(escaped(option.summary))]:\(value):\(action(option.kind))")
    }
    lines.append(quoted("(- *)--help[explain the command]"))
    if let arguments = spec.arguments {
      let isList = arguments.hasSuffix("...")
      lines.append(quoted("\(isList ? "*" : "1"):\(arguments):\(action(spec.argumentKind))"))
    }
    return "    \(spec.name))\n      _arguments -S \\\n"
      + lines.map { "        " + $0 }.joined(separator: " \\\n") + "\n      ;;"
  }

  private static func action(_ kind: ValueKind) -> String {
    switch kind {
    case .file: "_files"
    case .words(let words): "(" + words.joined(separator: " ") + ")"
    case .target: "_reachd_targets"
    case .text: " "
    }
  }

  /// What stands in brackets, where these and colons mean something.
  private static func escaped(_ text: String) -> String {
    text.map { "[]:\\".contains($0) ? "\\\($0)" : String($0) }.joined()
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.map { $0 == "'" ? "'\\''" : String($0) }.joined() + "'"
  }
}
