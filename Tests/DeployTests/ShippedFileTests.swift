import EndToEndTools
import Glibc
import ReachTestSupport
import Testing

/// Whoever adds a file under deploy/ or etc/ says in shipped.tsv which suite runs it.
@Suite struct ShippedFileTests {
  private struct Entry {
    let pattern: String
    let suite: String
  }

  @Test("every file under deploy and etc is named in shipped.tsv, with a suite that exists")
  func everyFile() throws {
    let entries = try Repository.text("Tests/DeployTests/shipped.tsv").split(separator: "\n")
      .filter { !$0.hasPrefix("#") }.map { line in
        let fields = line.split(separator: "\t").map(String.init)
        try #require(fields.count == 2, "\(line)")
        return Entry(pattern: fields[0], suite: fields[1])
      }
    let files = try Repository.files(in: "deploy") + Repository.files(in: "etc")
    try #require(!files.isEmpty)
    for file in files {
      #expect(entries.contains { Self.matches($0.pattern, file) }, "nothing runs \(file)")
    }
    for entry in entries {
      #expect(files.contains { Self.matches(entry.pattern, $0) }, "there is no file \(entry.pattern)")
      let parts = entry.suite.split(separator: ".")
      try #require(parts.count == 2, "\(entry.suite)")
      let texts = try Repository.files(in: "Tests/\(parts[0])").filter { $0.hasSuffix(".swift") }
        .map(Repository.text)
      #expect(texts.contains { $0.contains("struct \(parts[1])") }, "there is no suite \(entry.suite)")
    }
  }

  private static func matches(_ pattern: String, _ path: String) -> Bool {
    unsafe fnmatch(pattern, path, FNM_PATHNAME) == 0
  }
}
