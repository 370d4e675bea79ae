/// The completion script for fish.
enum FishCompletion {
  static var script: String {
    """
    # Completes command lines of reachd in fish. Made by: reachd completion fish

    function __reachd_targets
      set -l words (commandline -opc)
      set -l config
      for index in (seq 2 (count $words))
        switch $words[$index]
          case --config
            set -q words[(math $index + 1)]; and set config --config $words[(math $index + 1)]
          case '--config=*'
            set config $words[$index]
        end
      end
      $words[1] completion targets $config 2>/dev/null
    end

    # No file is offered where none is meant.
    complete -c reachd -f
    complete -c reachd -n __fish_use_subcommand -s h -l help -d 'explain the program'
    complete -c reachd -n __fish_use_subcommand -l version -d 'print the version'
    complete -c reachd -n __fish_use_subcommand -a help -d 'explains a command'
    complete -c reachd -n '__fish_seen_subcommand_from help' -a '\(CommandSpec.all.map(\.name).joined(separator: " "))'
    \(CommandSpec.all.map(command).joined(separator: "\n"))

    """
  }

  private static func command(_ spec: CommandSpec) -> String {
    var lines = ["complete -c reachd -n __fish_use_subcommand -a \(spec.name) -d \(quoted(spec.summary))"]
    let lead = "complete -c reachd -n '__fish_seen_subcommand_from \(spec.name)'"
    for option in spec.options {
      let value = option.value == nil ? "" : " " + action(option.kind)
      lines.append("\(lead) -l \(option.flag.dropFirst(2))\(value) -d \(quoted(option.summary))")
    }
    lines.append("\(lead) -l help -d 'explain the command'")
    switch spec.argumentKind {
    case .words(let words): lines.append("\(lead) -a '\(words.joined(separator: " "))'")
    case .target: lines.append("\(lead) -a '(__reachd_targets)'")
    case .file: lines.append("\(lead) -F")
    case .text: break
    }
    return lines.joined(separator: "\n")
  }

  private static func action(_ kind: ValueKind) -> String {
    switch kind {
    case .file: "-r -F"
    case .words(let words): "-x -a '\(words.joined(separator: " "))'"
    case .target: "-x -a '(__reachd_targets)'"
    case .text: "-x"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'" + text.map { "'\\".contains($0) ? "\\\($0)" : String($0) }.joined() + "'"
  }
}
