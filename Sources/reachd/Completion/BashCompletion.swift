/// The completion script for bash, which needs no other package.
enum BashCompletion {
  static var script: String {
    """
    # Completes command lines of reachd in bash. Made by: reachd completion bash

    # Adds those of the words behind the first that begin with it to what is offered.
    _reachd_offer() {
      local current=$1 lead='' word
      shift
      # Readline replaces what stands behind the last of its word breaks, and nothing before it.
      if [[ $COMP_WORDBREAKS == *:* && $current == *:* ]]; then lead=${current%"${current##*:}"}; fi
      for word; do
        [[ -n $word && $word == "$current"* ]] || continue
        printf -v word %q "${word#"$lead"}"
        COMPREPLY+=("$before$word")
      done
    }

    _reachd() {
      local line=${COMP_LINE:0:COMP_POINT} words index word command='' option='' given=' ' isOver='' config=() before=''
      # Not raw: a space that is escaped is a part of its word.
      read -a words <<<"$line"
      [[ $line == *[[:space:]] && $line != *'\\ ' ]] && words+=('')
      COMPREPLY=()
      for ((index = 1; index < ${#words[@]} - 1; index++)); do
        word=${words[index]}
        if [[ -n $option ]]; then
          [[ $option == --config ]] && config=(--config "${word/#\\~/$HOME}")
          option=''
        elif [[ -z $command ]]; then
          command=$word
        elif [[ $word == -- ]]; then
          isOver=1
        elif [[ -z $isOver && $word == --* ]]; then
          given+="${word%%=*} "
          [[ $word == --config=* ]] && config=(--config "${word#*=}")
          case "$command $word" in
    \(valued)) option=$word ;;
          esac
        fi
      done
      local current=${words[${#words[@]} - 1]}
      if [[ -z $option && -z $isOver && $current == --*=* ]]; then
        option=${current%%=*}
        current=${current#*=}
        [[ $COMP_WORDBREAKS == *=* ]] || before="$option="
      fi
      if [[ -z $option && -z $isOver && $current == -* && -n $command ]]; then
        local offered=()
        case $command in
    \(options)
        esac
        for word in "${offered[@]}"; do
          [[ $given == *" $word "* ]] || _reachd_offer "$current" "$word"
        done
        return
      fi
      case "$command $option" in
        ' ') _reachd_offer "$current" \(words(CommandSpec.all.map(\.name))) help --help --version ;;
        'help ') _reachd_offer "$current" \(words(CommandSpec.all.map(\.name))) ;;
    \(values)
      esac
    }

    complete -F _reachd reachd

    """
  }

  private static var valued: String {
    let cases = CommandSpec.all.flatMap { spec in
      spec.options.filter { $0.value != nil }.map { "'\(spec.name) \($0.flag)'" }
    }
    return "        " + cases.joined(separator: " | ")
  }

  private static var options: String {
    CommandSpec.all.map { spec in
      // One that may be given again is offered again.
      let flags = spec.options.map(\.flag) + ["--help"]
      let repeatable = spec.options.filter(\.isRepeatable).map { " given=${given// \($0.flag) / }" }.joined()
      return "      \(spec.name)) offered=(\(words(flags)));\(repeatable.isEmpty ? "" : repeatable + " ;")" + ";"
    }.joined(separator: "\n")
  }

  /// What is offered for each value and argument: those of which the same is offered, in one case.
  private static var values: String {
    let places = CommandSpec.all.flatMap { spec in
      spec.options.filter { $0.value != nil }.map { ("\(spec.name) \($0.flag)", $0.kind) }
        + (spec.arguments == nil ? [] : [("\(spec.name) ", spec.argumentKind)])
    }
    let kinds = places.map(\.1).reduce(into: [ValueKind]()) { if !$0.contains($1) { $0.append($1) } }
    return kinds.compactMap { kind in
      action(kind).map { action in
        let cases = places.filter { $0.1 == kind }.map { "'\($0.0)'" }.joined(separator: " | ")
        return "    \(cases))\n      \(action)\n      ;;"
      }
    }.joined(separator: "\n")
  }

  private static func action(_ kind: ValueKind) -> String? {
    switch kind {
    case .text: nil
    case .words(let list): "_reachd_offer \"$current\" \(words(list))"
    case .target:
      """
      mapfile -t words < <("$1" completion targets "${config[@]}" 2>/dev/null)
            _reachd_offer "$current" "${words[@]}"
      """
    case .file:
      """
      mapfile -t COMPREPLY < <(compgen -f -- "${current/#\\~/$HOME}")
            COMPREPLY=("${COMPREPLY[@]/#/$before}")
            compopt -o filenames
      """
    }
  }

  private static func words(_ list: [String]) -> String { list.joined(separator: " ") }
}
