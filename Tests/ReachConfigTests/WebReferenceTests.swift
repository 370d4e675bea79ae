import ReachTestSupport
import Testing

@testable import ReachConfig

/// What `docs/serving.md` says of the file for `web.config`, and its reader beside it.
@Suite struct WebReferenceTests {
  private static let samples = [
    "@", "tls_server_config: { @ }", "http_server_config: { @ }", "http_server_config: { headers: { @ } }",
    "rate_limit: { @ }",
  ]
  private static let unheardOf = "qqqqqqqqqqqqqqqq"

  private static func known(in sample: String) throws -> [String] {
    let text = sample.replacing("@", with: "\(unheardOf): 1")
    let problems = WebConfiguration.parse(Array(text.utf8), file: "web.yaml").problems
    let lists = problems.compactMap { $0.message.firstMatch(of: /; known are (.+)$/)?.output.1 }
    return try #require(lists.first, "\(sample)").split(separator: ", ").map(String.init)
  }

  private static func section() throws -> Substring {
    let sections = try Repository.text("docs/serving.md").split(separator: "\n## ")
    return try #require(sections.first { $0.hasPrefix("TLS and passwords\n") })
  }

  @Test("every key that the file may have is named on the page", arguments: samples)
  func keys(sample: String) throws {
    let section = try Self.section()
    for key in try Self.known(in: sample) {
      #expect(try Regex("[^A-Za-z0-9_]\(key)[^A-Za-z0-9_]").firstMatch(in: String(section)) != nil, "\(key)")
    }
  }

  @Test("the table of the page has keys of the file alone")
  func table() throws {
    let known = Set(try Self.samples.flatMap(Self.known))
    let rows = try Self.section().matches(of: /\n\| ((?:`[a-z0-9_.]+`(?:, )?)+) \|/)
    #expect(rows.count > 5)
    for name in rows.flatMap({ $0.output.1.matches(of: /[a-z0-9_]+/) }) {
      #expect(known.contains(String(name.output)), "\(name.output)")
    }
  }
}
