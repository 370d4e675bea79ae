import ReachTestSupport
import Testing

/// That whoever follows a link of the documentation arrives somewhere, without leaving the repository for it.
@Suite struct LinkTests {
  @Test("every link within the repository leads to a file that is there, and to a heading of it")
  func links() throws {
    let pages = try Page.all()
    let anchors = pages.reduce(into: [:]) { $0[$1.path] = $1.anchors }
    var count = 0
    for link in pages.flatMap(\.links) {
      if link.target.hasPrefix("https://") || link.target.hasPrefix("http://") { continue }
      count += 1
      let parts = link.target.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
      let file = try #require(Self.resolve(parts[0], from: link.page), "\(link) leads out of the repository")
      #expect(Repository.hasFile(file), "\(link): there is no \(file)")
      if parts.count == 2 {
        #expect(anchors[file]?.contains(parts[1]) == true, "\(link): \(file) has no such heading")
      }
    }
    #expect(count > 40)
  }

  @Test("every page is listed in docs/README.md, README.md or beside what it is about, so that it can be found")
  func index() throws {
    let pages = try Page.all()
    let linked = Set(
      pages.flatMap(\.links).compactMap { link in
        Self.resolve(String(link.target.prefix { $0 != "#" }), from: link.page)
      })
    for page in pages where page.path.hasPrefix("docs/") && page.path != "docs/README.md" {
      #expect(linked.contains(page.path), "no page links to \(page)")
    }
    let index = try #require(pages.first { $0.path == "docs/README.md" })
    let listed = Set(index.links.compactMap { Self.resolve($0.target, from: index.path) })
    for page in pages where page.path.hasPrefix("docs/") && page.path != index.path {
      #expect(listed.contains(page.path), "docs/README.md does not list \(page)")
    }
  }

  @Test("a path of the repository that is written anywhere in the documentation is there")
  func paths() throws {
    let roots = ["docs", "etc", "deploy", "Sources", "Plugins", "Tests", "Examples", "Benchmarks", ".ci"]
    let pattern = try Regex<(Substring, Substring)>(
      "(?:^|[^A-Za-z0-9_./-])((?:\(roots.joined(separator: "|").replacing(".", with: "\\.")))/[A-Za-z0-9_./-]*[A-Za-z0-9_])"
    )
    let pages = try Page.all().map { ($0.path, $0.text) }
    let files = try (Repository.files(in: "etc") + Repository.files(in: "deploy")).filter {
      $0.hasSuffix(".yaml") || $0.hasSuffix(".yml")
    }
    for (page, text) in pages + (try files.map { ($0, try Repository.text($0)) }) {
      // What was told of a version once is not changed when a file moves.
      if page == "CHANGELOG.md" { continue }
      for match in text.matches(of: pattern) {
        let path = String(match.output.1)
        // `Sources/Reach…` and `etc/*.yaml` stand for many.
        let next = text[match.range.upperBound...].first
        if next == "…" || next == "*" || next == "<" { continue }
        #expect(Repository.hasFile(path), "\(page) names \(path)")
      }
    }
  }

  /// The path from the top of the tree that a relative link leads to; nil when it leads above.
  private static func resolve(_ target: String, from page: String) -> String? {
    if target.isEmpty { return page }
    if target.hasPrefix("/") { return nil }
    var parts = page.split(separator: "/").dropLast().map(String.init)
    for part in target.split(separator: "/") {
      if part == "." { continue }
      guard part == ".." else {
        parts.append(String(part))
        continue
      }
      if parts.popLast() == nil { return nil }
    }
    return parts.joined(separator: "/")
  }
}
