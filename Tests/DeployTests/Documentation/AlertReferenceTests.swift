import ReachTestSupport
import Testing

/// What `docs/alerts.md` says of each alert, and the rules beside it.
@Suite struct AlertReferenceTests {
  private static func alerts() throws -> Set<String> {
    let rules = try Repository.text("deploy/prometheus/reachd.rules.yml")
    return Set(rules.matches(of: /(?m)^\s*- alert: (\S+)/).map { String($0.output.1) })
  }

  @Test("every alert of the rules has a section of its own, and no other has one")
  func sections() throws {
    let page = try Repository.text("docs/alerts.md")
    let sections = page.matches(of: /(?m)^#+ `?(Reachd[A-Za-z]+)`?$/).map { String($0.output.1) }
    #expect(Set(sections) == (try Self.alerts()))
    #expect(sections.count == Set(sections).count)
    #expect(!sections.isEmpty)
  }

  @Test("no page names an alert that does not exist")
  func mentions() throws {
    let alerts = try Self.alerts()
    for page in try Page.all() where page.path != "CHANGELOG.md" {
      for match in page.text.matches(of: /\bReachd[A-Z][A-Za-z]+/) {
        #expect(alerts.contains(String(match.output)), "\(page) names \(match.output)")
      }
    }
  }
}
