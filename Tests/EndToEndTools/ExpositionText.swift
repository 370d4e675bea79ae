/// An exposition of Prometheus, version 0.0.4, as samples.
struct ExpositionText {
  struct Sample {
    let name: String
    let labels: [String: String]
    let value: Double
  }

  struct Malformed: Error {
    let line: String
  }

  private(set) var samples: [Sample] = []

  /// Reads a whole exposition; comments are passed over.
  init(parsing text: String) throws(Malformed) {
    for line in text.split(separator: "\n") where !line.hasPrefix("#") {
      samples.append(try Self.sample(line))
    }
  }

  /// The values of the series with this name that have at least these labels.
  func values(_ name: String, _ labels: [String: String] = [:]) -> [Double] {
    samples.filter { sample in
      sample.name == name && labels.allSatisfy { sample.labels[$0.key] == $0.value }
    }.map(\.value)
  }

  /// The value of the one such series.
  func value(_ name: String, _ labels: [String: String] = [:]) -> Double? {
    let values = values(name, labels)
    return values.count == 1 ? values.first : nil
  }

  /// The statuses of a target whose value is 1; there should be one.
  func statuses(of target: String) -> [String] {
    samples.filter { $0.name == "reachability_status" && $0.labels["target"] == target && $0.value == 1 }
      .compactMap { $0.labels["status"] }
  }

  private static func sample(_ line: Substring) throws(Malformed) -> Sample {
    var rest = line
    let name = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" || $0 == ":" }
    rest = rest.dropFirst(name.count)
    var labels: [String: String] = [:]
    if rest.first == "{" {
      rest.removeFirst()
      while rest.first != "}" {
        let key = rest.prefix { $0 != "=" }
        rest = rest.dropFirst(key.count)
        guard rest.hasPrefix("=\"") else { throw Malformed(line: String(line)) }
        rest = rest.dropFirst(2)
        labels[String(key)] = try text(&rest)
        if rest.first == "," { rest.removeFirst() }
        if rest.isEmpty { throw Malformed(line: String(line)) }
      }
      rest.removeFirst()
    }
    guard rest.first == " ", let value = number(rest.dropFirst()), !name.isEmpty else {
      throw Malformed(line: String(line))
    }
    return Sample(name: String(name), labels: labels, value: value)
  }

  private static func number(_ text: Substring) -> Double? {
    switch text {
    case "+Inf": .infinity
    case "-Inf": -.infinity
    case "NaN": .nan
    default: Double(text)
    }
  }

  /// A label's value up to and with its closing quote.
  private static func text(_ rest: inout Substring) throws(Malformed) -> String {
    var text = ""
    while let character = rest.popFirst() {
      switch character {
      case "\"": return text
      case "\\":
        switch rest.popFirst() {
        case "n": text.append("\n")
        case "\\": text.append("\\")
        case "\"": text.append("\"")
        default: throw Malformed(line: text)
        }
      default: text.append(character)
      }
    }
    throw Malformed(line: text)
  }
}
