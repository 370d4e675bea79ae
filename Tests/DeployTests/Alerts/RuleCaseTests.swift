import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The cases of the rules, run by promtool.
@Suite(.enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"), .timeLimit(.minutes(5)))
struct RuleCaseTests {
  private static let files = ["targets", "flapping", "presence", "agent", "objective", "objective-long"]

  @Test("the rules do what their cases say", arguments: files)
  func cases(file: String) throws {
    let result = try runProgram(["promtool", "test", "rules", "\(Prometheus.delivered)/tests/\(file).yml"])
    #expect(result.isSuccess, "\(result.output)")
  }

  @Test("every alert has a case in which it fires and one in which it does not, and all that is recorded has one")
  func coverage() throws {
    let found = try Repository.files(in: "deploy/prometheus/tests")
    #expect(found == Self.files.map { "deploy/prometheus/tests/\($0).yml" }.sorted())
    let text = try found.map(Repository.text).joined(separator: "\n")
    let rules = try RuleText()
    var outcomes: [String: Set<Bool>] = [:]
    for match in text.matches(of: /alertname: (\w+)\n *exp_alerts:( \[\])?/) {
      outcomes[String(match.output.1), default: []].insert(match.output.2 == nil)
    }
    #expect(Set(outcomes.keys) == Set(rules.alerts))
    for name in rules.alerts { #expect(outcomes[name] == [true, false], "\(name)") }
    let recorded = Set(text.matches(of: /expr: (\S+)\n *exp_samples:\n/).map { String($0.output.1) })
    #expect(recorded == Set(rules.records))
  }
}
