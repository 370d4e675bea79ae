import ReachTestSupport
import Testing

/// What `docs/blackbox.md` says, beside the code.
@Suite struct BlackboxReferenceTests {
  @Test("the reference names every metric of /probe, and no other")
  func metrics() throws {
    let folders = ["", "/DNS", "/TLS"].map { "Sources/ReachBlackbox" + $0 }
    let sources = try folders.map { try Repository.sources(in: $0) }
    let known = Set(sources.joined().matches(of: /ProbeFamily\(\s*"(probe_[a-z_0-9]+)"/).map { String($0.output.1) })
    let text = try Repository.text("docs/blackbox.md")
    let rows = text.matches(of: /(?m)^\| `(probe_[a-z_0-9]+)` \|/).map { String($0.output.1) }
    #expect(known.count > 10 && rows.sorted() == known.sorted())
    for mention in text.matches(of: /`(probe_[a-z_0-9]+)[` ]/) where mention.output.1 != "probe_allow" {
      #expect(known.contains(String(mention.output.1)), "\(mention.output.1)")
    }
  }
}
