internal import ReachCore
public import ReachProbe

/// What is wrong with what a plugin says of itself, in words; empty when nothing is.
///
/// Names are words of lower-case letters, digits and underscores; the layer is one that can be observed; every option
/// is described, none is given twice or called `timeout`, and each default is a value of the option's own kind.
public func registrationViolations(_ registration: Registration) -> [String] {
  var violations: [String] = []
  if !isWord(registration.name) { violations.append("the name '\(registration.name)' is not a lower-case word") }
  if ![.link, .route, .dns, .tcp].contains(registration.layer) {
    violations.append("layer \(registration.layer) is none that a probe can look at")
  }
  if registration.version.isEmpty { violations.append("no version") }
  if registration.summary.isEmpty || registration.summary.contains("\n") {
    violations.append("the summary is not one line")
  }
  var seen: Set<String> = []
  for option in registration.options {
    let name = "option '\(option.name)'"
    if !isWord(option.name) { violations.append("\(name) is not a lower-case word") }
    if option.name == "timeout" { violations.append("\(name) belongs to the framework") }
    if !seen.insert(option.name).inserted { violations.append("\(name) is declared twice") }
    if option.summary.isEmpty || option.summary.contains("\n") {
      violations.append("\(name) has no summary of one line")
    }
    if let value = option.defaultValue, !fits(value, option.kind) {
      violations.append("\(name) has a default, \(value), that is not of its kind, \(option.kind)")
    }
  }
  return violations
}

private func isWord(_ text: String) -> Bool {
  guard let first = text.utf8.first, (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first) else { return false }
  return text.utf8.allSatisfy {
    switch $0 {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
    default: false
    }
  }
}

private func fits(_ value: OptionValue, _ kind: ProbeOption.Kind) -> Bool {
  switch (kind, value) {
  case (.string, .string), (.boolean, .boolean), (.endpoint, .endpoint), (.endpoints, .endpoints): true
  case (.integer(let range), .integer(let number)): range.contains(number)
  case (.duration, .duration(let duration)): duration > .zero
  case (.choice(let words), .string(let word)): words.contains(word)
  default: false
  }
}
