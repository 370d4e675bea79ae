/// Reads single values. What is not as it should be is noted, and nil returned.
struct ValueReader {
  let problems: ProblemList

  /// Any text. What YAML takes for a number or a truth is text too, as it was written.
  func text(_ node: YAMLNode, _ key: String) -> String? { text(node, key, wantsNumber: false) }

  private func text(_ node: YAMLNode, _ key: String, wantsNumber: Bool) -> String? {
    guard node.kind == .scalar else { return refuse(node, key, "takes one value, not \(node.whatItIs)") }
    if node.isBinary { return refuseBinary(node) }
    let text = node.text
    guard node.isPlain else { return text }
    switch CoreScalar(text) {
    case .null: return refuse(node, key, "is empty; write a value, or remove the key")
    // A number is then refused as one, in better words.
    case .ambiguous where !wantsNumber:
      return refuse(node, key, "\(quoted(text)) is an ambiguous number; put it in quotes if it is a text", colon: true)
    default: return text
    }
  }

  /// The octets of a text, or those that `!!binary` makes of base64.
  func octets(_ node: YAMLNode, _ key: String) -> [UInt8]? {
    node.isBinary ? Array(node.octets) : text(node, key).map { Array($0.utf8) }
  }

  /// Notes that there is no place for octets here.
  func refuseBinary<Value>(_ node: YAMLNode) -> Value? {
    problems.error("the tag '!!binary' is not supported here; remove it", at: node.position)
    return nil
  }

  /// A text that `parse` makes a value of.
  func value<Value>(
    _ node: YAMLNode, _ key: String, parse: (String) throws(ValueError) -> Value
  ) -> Value? {
    guard let text = text(node, key) else { return nil }
    return parsed(text, node, key, parse: parse)
  }

  /// A number in a form of its own, which `parse` knows.
  func number<Value>(
    _ node: YAMLNode, _ key: String, parse: (String) throws(ValueError) -> Value
  ) -> Value? {
    guard let text = text(node, key, wantsNumber: true) else { return nil }
    return parsed(text, node, key, parse: parse)
  }

  /// A duration of at least a millisecond; zero only where it means something.
  func duration(_ node: YAMLNode, _ key: String, allowingZero: Bool = false) -> Duration? {
    guard node.kind == .scalar, !node.isEmpty, !node.isBinary else { return text(node, key).flatMap { _ in nil } }
    let text = node.text
    guard let duration = parsed(text, node, key, parse: { text throws(ValueError) in try Duration(parsing: text) })
    else { return nil }
    guard duration >= .milliseconds(1) || allowingZero && duration == .zero else {
      let what = duration == .zero ? "zero; write a duration above zero" : "below a millisecond; write a longer one"
      return refuse(node, key, "\(quoted(text)) is \(what), such as 15s", colon: true)
    }
    return duration
  }

  /// A whole number in decimal.
  func integer(_ node: YAMLNode, _ key: String, in range: ClosedRange<Int>) -> Int? {
    guard let text = text(node, key, wantsNumber: true) else { return nil }
    guard let number = decimal(text) else {
      return refuse(node, key, "\(quoted(text)) is not a whole number; write one\(words(range))", colon: true)
    }
    guard range.contains(number) else {
      return refuse(node, key, "\(quoted(text)) is out of range; write a number\(words(range))", colon: true)
    }
    return number
  }

  /// `true` or `false`. In YAML 1.2 `yes`, `no`, `on` and `off` are texts.
  func boolean(_ node: YAMLNode, _ key: String) -> Bool? {
    guard let text = text(node, key) else { return nil }
    if node.isPlain, case .boolean(let truth) = CoreScalar(text) { return truth }
    let isQuoted = !node.isPlain && (text == "true" || text == "false")
    let what = isQuoted ? "a text; remove the quotes" : "neither true nor false; write one of them"
    return refuse(node, key, "\(quoted(text)) is \(what)", colon: true)
  }

  /// One of the words of an enumeration.
  func choice<Value: RawRepresentable<String> & CaseIterable>(_ node: YAMLNode, _ key: String) -> Value? {
    word(node, key, among: Value.allCases.map(\.rawValue)).flatMap(Value.init(rawValue:))
  }

  /// One of these words.
  func word(_ node: YAMLNode, _ key: String, among words: [String]) -> String? {
    guard let text = text(node, key) else { return nil }
    if words.contains(text) { return text }
    let hint = closest(to: text, among: words).map { "; did you mean '\($0)'?" } ?? "; write one of them"
    return refuse(node, key, "\(quoted(text)) is none of \(words.joined(separator: ", "))\(hint)", colon: true)
  }

  /// The nodes of a list; a single value stands for a list of one. Nil for a map, or nothing.
  func list(_ node: YAMLNode, _ key: String) -> [YAMLNode]? {
    switch node.kind {
    case .sequence: return Array(node.elements)
    case .scalar where !node.isEmpty: return [node]
    case .scalar: return refuse(node, key, "is empty; write a list, or remove the key")
    case .mapping: return refuse(node, key, "takes a list, not a map")
    }
  }

  /// A list of texts, none of them empty. What is wrong with one of them leaves the others.
  func texts(_ node: YAMLNode, _ key: String) -> [String]? {
    list(node, key)?.compactMap { element in
      guard let text = text(element, key) else { return nil }
      return text.isEmpty ? refuse(element, key, "holds an empty text; remove it") : text
    }
  }

  /// Notes a problem with the value of a key.
  func refuse<Value>(_ node: YAMLNode, _ key: String, _ what: String, colon: Bool = false) -> Value? {
    problems.error(colon ? "\(key): \(what)" : "'\(key)' \(what)", at: node.position)
    return nil
  }

  private func parsed<Value>(
    _ text: String, _ node: YAMLNode, _ key: String, parse: (String) throws(ValueError) -> Value
  ) -> Value? {
    do throws(ValueError) {
      return try parse(text)
    } catch {
      return refuse(node, key, error.description, colon: true)
    }
  }

  private func decimal(_ text: String) -> Int? {
    let digits = text.hasPrefix("-") ? text.dropFirst() : text[...]
    guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }),
      digits.utf8.count == 1 || !digits.hasPrefix("0")
    else { return nil }
    // A number that Int cannot hold is out of any range.
    return Int(text) ?? (text.hasPrefix("-") ? .min : .max)
  }

  private func words(_ range: ClosedRange<Int>) -> String {
    switch (range.lowerBound, range.upperBound) {
    case (.min, .max): ""
    case (let lowest, .max): " of at least \(lowest)"
    case (.min, let highest): " of at most \(highest)"
    case (let lowest, let highest): " from \(lowest) to \(highest)"
    }
  }
}
