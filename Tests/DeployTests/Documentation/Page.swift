@testable import EndToEndTools
import Glibc
import ReachTestSupport

/// A page of the documentation: any Markdown file of the repository.
struct Page: CustomStringConvertible {
  /// A piece of the page between two lines of three backticks.
  struct Block: CustomStringConvertible {
    let page: String
    let line: Int
    /// The word behind the opening backticks; empty when there is none.
    let language: String
    let text: String

    var description: String { "\(page):\(line)" }
  }

  /// A link whose target is given in the page.
  struct Link: CustomStringConvertible {
    let page: String
    let line: Int
    let target: String

    var description: String { "\(page):\(line): \(target)" }
  }

  /// Its path from the top of the tree.
  let path: String
  /// All of it.
  let text: String
  /// What stands between fences.
  let blocks: [Block]
  /// What stands outside of them, by the number of the line.
  let prose: [(line: Int, text: String)]

  var description: String { path }

  init(_ path: String, text: String) {
    self.path = path
    self.text = text
    var blocks: [Block] = []
    var prose: [(line: Int, text: String)] = []
    var open: (line: Int, indent: Int, language: String, lines: [Substring])?
    for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() {
      let bare = line.drop { $0 == " " }
      if bare.hasPrefix("```") {
        if let block = open {
          let text = block.lines.map { $0 + "\n" }.joined()
          blocks.append(Block(page: path, line: block.line, language: block.language, text: text))
          open = nil
        } else {
          open = (index + 1, line.count - bare.count, String(bare.drop { $0 == "`" }), [])
        }
      } else if let indent = open?.indent {
        open?.lines.append(line.prefix(indent).allSatisfy { $0 == " " } ? line.dropFirst(indent) : line)
      } else {
        prose.append((index + 1, String(line)))
      }
    }
    self.blocks = blocks
    self.prose = prose
  }

  /// Every page, in the order of its path.
  static func all() throws -> [Page] {
    let folders = ["docs", "etc", "deploy", "Plugins", "Sources", "Tests", "Benchmarks", ".ci", "Examples"]
    let files = try folders.filter(Repository.hasFile).flatMap { try Repository.files(in: $0) }
    let pages = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"] + files.filter { $0.hasSuffix(".md") }
    return try pages.filter { !$0.contains("/.build/") }.map { Page($0, text: try Repository.text($0)) }
  }

  /// The links that Markdown writes as `[text](target)` and `[name]: target`; what stands in backticks is none.
  var links: [Link] {
    prose.flatMap { line, text in
      let bare = text.replacing(/`[^`]*`/, with: "code")
      let targets =
        bare.matches(of: /\]\(([^)\s]+)\)/).map { String($0.output.1) }
        + bare.matches(of: /^\s*\[[^\]]+\]:\s+(\S+)/).map { String($0.output.1) }
      return targets.map { Link(page: path, line: line, target: $0) }
    }
  }

  /// What GitHub makes of the headings, so that links can lead to them.
  var anchors: Set<String> {
    var anchors: Set<String> = []
    for (_, text) in prose where text.hasPrefix("#") {
      let title = text.drop { $0 == "#" }.drop { $0 == " " }.replacing(/\]\([^)]*\)/, with: "]")
      var slug = ""
      for character in title.lowercased() {
        if character.isLetter || character.isNumber || character == "_" || character == "-" { slug.append(character) }
        if character == " " { slug.append("-") }
      }
      var name = slug
      var count = 0
      while !anchors.insert(name).inserted {
        count += 1
        name = "\(slug)-\(count)"
      }
    }
    return anchors
  }

  /// What stands in backticks within the lines, by the number of the line.
  var codes: [(line: Int, text: String)] {
    prose.flatMap { line, text in text.matches(of: /`([^`]+)`/).map { (line, String($0.output.1)) } }
  }
}

extension Repository {
  /// Whether there is a file or a folder of this path, from the top of the tree on.
  static func hasFile(_ path: String) -> Bool { unsafe access("\(Reachd.sources)/\(path)", F_OK) == 0 }
}
