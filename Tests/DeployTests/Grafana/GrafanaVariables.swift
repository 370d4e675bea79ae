import ReachTestSupport

@testable import EndToEndTools

/// What Grafana puts in the place of `$name`, `${name}` and `${name:format}` in a query for Prometheus.
struct GrafanaVariables {
  /// A variable's choice.
  enum Choice {
    /// All, by the value that the dashboard has for it.
    case all
    /// These values of those the variable offers.
    case values([String])
  }

  /// By name: the text in its place.
  private var texts: [String: String] = [:]

  /// The variables of a dashboard and the ones that Grafana has itself, for a dashboard that shows `range` at one point a
  /// second and scrapes as often.
  init(range seconds: Int) {
    texts = [
      "__interval": "1s", "__interval_ms": "1000", "__rate_interval": "4s", "__range": "\(seconds)s",
      "__range_s": "\(seconds)", "__range_ms": "\(seconds)000",
    ]
  }

  /// Chooses for a variable of the dashboard.
  mutating func choose(_ choice: Choice, for variable: JSON) throws {
    guard let name = variable["name"]?.text else { return }
    let isMany = variable["multi"] == .boolean(true) || variable["includeAll"] == .boolean(true)
    switch choice {
    case .all:
      guard variable["includeAll"] == .boolean(true), let all = variable["allValue"]?.text else {
        throw ProgramRefusal("\(name) has no value for all")
      }
      texts[name] = all
    case .values(let values):
      // One that allows a single value stands in quotes as it is; another is part of a regular expression.
      let escaped = values.map { isMany ? Self.asExpression($0) : Self.escaping("\\", in: $0) }
      guard isMany || escaped.count == 1 else { throw ProgramRefusal("\(name) takes one value") }
      texts[name] = escaped.count == 1 ? escaped[0] : "(" + escaped.joined(separator: "|") + ")"
    }
  }

  /// A query with all its variables replaced. Throws when one is unknown.
  func replacing(in query: String) throws -> String {
    let replaced = query.replacing(/\$(?:\{(\w+)(?::\w+)?\}|(\w+))/) { match in
      let name = String(match.output.1 ?? match.output.2 ?? "")
      return texts[name] ?? "$" + name
    }
    if replaced.contains("$") { throw ProgramRefusal("an unknown variable in: \(replaced)") }
    return replaced
  }

  private static func asExpression(_ text: String) -> String {
    text.map { "\\$^*{}[]'+?.()|".contains($0) ? "\\\\\($0)" : String($0) }.joined()
  }

  private static func escaping(_ character: Character, in text: String) -> String {
    text.map { $0 == character ? "\\\($0)" : String($0) }.joined()
  }
}

/// Why something cannot be done.
struct ProgramRefusal: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}
