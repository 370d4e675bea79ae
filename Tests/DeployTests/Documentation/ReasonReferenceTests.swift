import ReachCore
import ReachTestSupport
import Testing

/// What `docs/reasons.md` says of each reason, and the reasons beside it.
@Suite struct ReasonReferenceTests {
  private struct Entry {
    let layer: String
    let reason: String
    let says: String
    let status: String
    let text: String
  }

  private static func entries() throws -> [Entry] {
    var entries: [Entry] = []
    for part in try Repository.text("docs/reasons.md").split(separator: "\n## ").dropFirst() {
      let layer = String(part.prefix { $0 != "\n" })
      for section in part.split(separator: "\n### ").dropFirst() {
        let reason = String(section.prefix { $0 != "\n" })
        let first = try #require(
          section.firstMatch(of: /\n\nSays: (.+)\. Status: (Reachable|NotReachable|Unknown)\.\n\n(?s)(.+)/), "\(reason)"
        )
        entries.append(
          Entry(
            layer: layer, reason: reason, says: String(first.output.1), status: String(first.output.2),
            text: String(first.output.3)))
      }
    }
    return entries
  }

  @Test("the page has a section for every reason of the code, under its layer and in its order, and no other")
  func sections() throws {
    let entries = try Self.entries()
    let pages = Layer.allCases.map { layer in
      "\(layer.rawValue): " + entries.filter { $0.layer == layer.rawValue }.map(\.reason).joined(separator: " ")
    }
    let codes = Layer.allCases.map { layer in
      var reasons = Reason.fixed.filter { $0.layer == layer }.map(\.description)
      // The one that has an errno in its name stands before those that name what did not answer in time.
      if layer == .local { reasons.insert("probe_error", at: reasons.firstIndex(of: "backend_missing") ?? 0) }
      return "\(layer.rawValue): " + reasons.joined(separator: " ")
    }
    #expect(pages == codes)
    #expect(entries.count == Reason.fixed.count + 1)
  }

  @Test("each section quotes the words of the program, and says what to do")
  func words() throws {
    for entry in try Self.entries() {
      let explanation =
        Reason(spelling: entry.reason)?.explanation
        ?? Reason.probeError(.interrupted).explanation.replacing(" (EINTR)", with: "")
      #expect(entry.says == explanation, "\(entry.reason)")
      #expect(entry.text.count > 15, "\(entry.reason)")
      // A fault of this host is never the target's, and the mistake of a target is not an outage.
      if entry.layer == "local" || entry.layer == "config" { #expect(entry.status == "Unknown", "\(entry.reason)") }
      if entry.layer != "local", entry.layer != "config" { #expect(entry.status != "Unknown", "\(entry.reason)") }
    }
  }

  @Test("the errors that a self-check knows a remedy for are in the table of probe errors")
  func errors() throws {
    let entry = try #require(try Self.entries().first { $0.reason == "probe_error" })
    let documented = Set(entry.text.matches(of: /`probe_error:([A-Z]+)`/).map { String($0.output.1) })
    let checks = try Repository.sources(in: "Sources/ReachAgent")
    let known = try #require(
      checks.firstMatch(of: /func known\(\s*_ code: FaultCode[^)]*\)(?s)(.*?)default:/), "the self-checks have moved")
    for match in known.output.1.matches(of: /case ([A-Z, nil]+):/) {
      for name in match.output.1.split(separator: ", ") where name != "nil" {
        #expect(documented.contains(String(name)), "\(name)")
      }
    }
  }
}
