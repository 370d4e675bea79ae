import ReachTestSupport

/// What stands in deploy/prometheus/reachd.rules.yml, as far as tests ask for it.
struct RuleText {
  static let path = "deploy/prometheus/reachd.rules.yml"

  /// The names of the alerts, in order.
  let alerts: [String]
  /// The names of what is recorded, in order.
  let records: [String]
  /// The text of each alert, by its name.
  let texts: [String: String]

  init() throws {
    let text = try Repository.text(Self.path)
    var names: [String] = []
    var texts: [String: String] = [:]
    var current: String?
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if let match = line.wholeMatch(of: /\s*- (alert|record|name): (.+)/) {
        current = match.output.1 == "alert" ? String(match.output.2) : nil
        if let current { names.append(current) }
      }
      if let current { texts[current, default: ""] += line + "\n" }
    }
    alerts = names
    records = text.matches(of: /- record: (\S+)/).map { String($0.output.1) }
    self.texts = texts
  }
}
