public import ReachCore

/// The metrics of one probe, to be written in the text format. A plain value.
public struct ProbeMetrics: Hashable, Sendable {
  private struct Sample: Hashable {
    var labels: [Label]
    var value: Double
  }

  private struct Family: Hashable {
    var help: String
    var samples: [Sample]
  }

  private var families: [String: Family] = [:]

  /// No metrics.
  public init() {}

  /// Sets a value: of the family, or of the one of its series that has these labels.
  public mutating func set(_ family: ProbeFamily, _ value: Double, _ labels: [Label] = []) {
    var known = families[family.name] ?? Family(help: family.help, samples: [])
    if let place = known.samples.firstIndex(where: { $0.labels == labels }) {
      known.samples[place].value = value
    } else {
      known.samples.append(Sample(labels: labels, value: value))
    }
    families[family.name] = known
  }

  /// A value that has been set.
  public func value(_ name: String, _ labels: [Label] = []) -> Double? {
    families[name]?.samples.first { $0.labels == labels }?.value
  }

  /// The families' names, in order.
  public var names: [String] { families.keys.sorted() }

  /// The metrics in the text format 0.0.4, the families in the order of their names.
  public var text: String {
    var text = ""
    for (name, family) in families.sorted(by: { $0.key < $1.key }) {
      text += "# HELP \(name) \(Self.escaped(family.help, quotes: false))\n# TYPE \(name) gauge\n"
      let lines = family.samples.map { "\(name)\(Self.text($0.labels)) \(Self.text($0.value))\n" }
      text += lines.sorted().joined()
    }
    return text
  }

  private static func text(_ labels: [Label]) -> String {
    guard !labels.isEmpty else { return "" }
    let pairs = labels.sorted { $0.name < $1.name }.map { "\($0.name)=\"\(escaped($0.value, quotes: true))\"" }
    return "{" + pairs.joined(separator: ",") + "}"
  }

  private static func escaped(_ text: String, quotes: Bool) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": result += "\\\\"
      case "\n": result += "\\n"
      case "\"" where quotes: result += "\\\""
      default: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// A number as the text format takes it, in the fewest digits that mean the same.
  private static func text(_ value: Double) -> String {
    if value.isNaN { return "NaN" }
    if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
    let text = "\(value)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
