import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The delivered files of Prometheus and Alertmanager, by the programs that read them, and what is written about them.
@Suite(
  .enabled(
    if: Prometheus.isAvailable && Alertmanager.isAvailable,
    "needs Debian's packages prometheus and prometheus-alertmanager"),
  .enabled(if: TestAuthority.isAvailable, "needs openssl"), .timeLimit(.minutes(2)))
struct AlertFileTests {
  @Test("Prometheus takes the configurations, and the examples in their comments", arguments: ["prometheus", "fleet"])
  func prometheus(name: String) throws {
    let folder = try TestFolder()
    let authority = try TestAuthority()
    let pair = try authority.issue("prometheus", for: [])
    try folder.write(try textOfFile(authority.certificate), to: "reachd-ca.pem")
    try folder.write(try textOfFile(pair.certificate), to: "prometheus.pem")
    try folder.write(try textOfFile(pair.key), to: "prometheus.key")
    try folder.write("secret", to: "reachd.password")
    try folder.write(try Repository.text(RuleText.path), to: "reachd.rules.yml")
    try folder.makeFolder("targets.d")
    try folder.write(
      try Repository.text("deploy/prometheus/targets.d/example.yml"), to: "targets.d/example.yml")
    let text = try Repository.text("deploy/prometheus/\(name).yml")
    let whole = ExampleComments.uncommented(text)
    #expect(whole != text)
    for text in [text, whole] {
      let file = try folder.write(text, to: "prometheus.yml")
      let result = try runProgram(["promtool", "check", "config", file])
      #expect(result.isSuccess, "\(result.output)")
    }
  }

  @Test("Alertmanager takes the configuration, and the examples in its comments")
  func alertmanager() throws {
    let folder = try TestFolder()
    try folder.write(try Repository.text("deploy/alertmanager/reachd.tmpl"), to: "reachd.tmpl")
    let text = try Repository.text("deploy/alertmanager/alertmanager.yml")
    let whole = ExampleComments.uncommented(text)
    #expect(whole != text)
    for text in [text, whole] {
      let file = try folder.write(text, to: "alertmanager.yml")
      let result = try runProgram(["amtool", "check-config", file])
      #expect(result.isSuccess, "\(result.output)")
    }
  }

  @Test(
    "what wakes somebody goes to the pager and what can wait does not",
    arguments: [
      ("alertname=ReachdCauseNotReachable cause=link:eth0 severity=page", "pager"),
      ("alertname=ReachdCauseNotReachable cause=resolver:192.0.2.53 severity=page", "pager"),
      ("alertname=ReachdTargetNotReachable target=db severity=page", "pager"),
      ("alertname=ReachdTargetNotReachable target=lab severity=ticket", "tickets"),
      ("alertname=ReachdAbsent instance=h severity=page", "pager"),
      ("alertname=ReachdReloadFailed instance=h severity=ticket", "tickets"),
      ("alertname=SomethingElse", "tickets"),
    ])
  func routes(labels: String, receiver: String) throws {
    let result = try runProgram(
      ["amtool", "config", "routes", "test", "--config.file=\(Alertmanager.delivered)/alertmanager.yml"]
        + ["--verify.receivers=\(receiver)"] + labels.split(separator: " ").map(String.init))
    #expect(result.isSuccess, "\(result.output)")
  }

  @Test("every alert says what to do, and where to read on; the page about alerts has each of them, and no other")
  func reference() throws {
    let rules = try RuleText()
    let page = try Repository.text("docs/alerts.md")
    let sections = page.matches(of: /\n### `(\w+)`\n/).map { String($0.output.1) }
    #expect(sections == rules.alerts)
    for name in rules.alerts {
      let text = rules.texts[name] ?? ""
      for word in ["severity: ", "summary: ", "description: ", "runbook: docs/alerts.md#\(name.lowercased())\n"] {
        #expect(text.contains(word), "\(name) has no \(word)")
      }
    }
    let mentioned = Set(page.matches(of: /\bReachd[A-Z]\w+/).map { String($0.output) })
    #expect(mentioned == Set(rules.alerts))
    for name in rules.records { #expect(page.contains("`\(name)`"), "\(name)") }
    let inhibitions = try Repository.text("deploy/alertmanager/alertmanager.yml")
    for match in inhibitions.matches(of: /\bReachd[A-Z]\w+/) where match.output != "ReachdErrorBudget" {
      let name = String(match.output)
      #expect(rules.alerts.contains { $0.hasPrefix(name) }, "\(name)")
    }
  }
}
