import Glibc
import ReachConfig
import ReachCore
import ReachTestSupport
import Testing

/// Files with targets, and secrets, on the disk.
@Suite struct TargetFileTests {
  @Test("a glob is the files that match in the order of their names, and a path is itself")
  func matching() throws {
    let folder = try TestFolder()
    for name in ["b.json", "a.json", ".c.json", "d.yml"] { try folder.write("[]", to: name) }
    #expect(TargetFile.matching(folder.path + "/*.json") == ["a.json", "b.json"].map { "\(folder.path)/\($0)" })
    #expect(TargetFile.matching(folder.path + "/[x]*.json") == [])
    #expect(TargetFile.matching(folder.path + "/none.json") == [folder.path + "/none.json"])
    #expect(TargetFile.matching("/nowhere/*.json") == [])
  }

  @Test("what is no file of a fair size is refused without waiting for it", .timeLimit(.minutes(4)))
  func refusals() throws {
    let folder = try TestFolder()
    try #require(unsafe mkfifo(folder.path + "/fifo", 0o600) == 0)
    #expect { try TargetFile.bytes(of: folder.path + "/fifo") } throws: { "\($0)".contains("no regular file") }
    #expect { try TargetFile.bytes(of: folder.path) } throws: { "\($0)".contains("no regular file") }
    #expect { try TargetFile.bytes(of: folder.path + "/none") } throws: { "\($0)".contains("there is no such file") }
    let large = try folder.write(String(repeating: "x", count: 5000), to: "large")
    #expect { try TargetFile.bytes(of: large, limit: 4999) } throws: { "\($0)".contains("larger than") }
    #expect(try TargetFile.bytes(of: large, limit: 5000).count == 5000)
    #expect(TargetFile.exists(large) && !TargetFile.exists(large + "/x") && !TargetFile.exists(folder.path + "/none"))
  }

  @Test("a file that says it is empty and is not is read to its end")
  func sizeless() throws {
    #expect(try TargetFile.bytes(of: "/proc/self/status").count > 100)
    #expect { try TargetFile.bytes(of: "/proc/self/status", limit: 100) } throws: { "\($0)".contains("larger than") }
  }

  @Test("a stamp stays while a file is untouched, and is another after each change, even of its times alone")
  func stamps() throws {
    let folder = try TestFolder()
    let file = try folder.write("[]", to: "a.json")
    let first = try #require(TargetFile.stamp(of: file))
    #expect(try TargetFile.contents(of: file).stamp == nil, "it may change within the same tick of the clock")
    #expect(TargetFile.stamp(of: file) == first)
    try folder.write("[]", to: "b.tmp")
    try folder.rename("b.tmp", to: "a.json")
    #expect(TargetFile.stamp(of: file) != first)
    #expect(TargetFile.stamp(of: folder.path + "/none") == nil)
    let old = "/usr/include/jansson.h"
    #expect(try TargetFile.contents(of: old).stamp == TargetFile.stamp(of: old))
  }

  @Test("a secret is the file's text without its line end, and none that is several lines")
  func secrets() throws {
    let folder = try TestFolder()
    #expect(try TargetFile.secret(in: folder.write("hunter2\r\n", to: "a")) == "hunter2")
    for text in ["", "\n", "hunter\ntwo", "\u{1}"] {
      let file = try folder.write(text, to: "b")
      #expect { try TargetFile.secret(in: file) } throws: { !"\($0)".contains("hunter") }
    }
  }

  @Test("a check reads the files that are there, and says what is wrong with each entry and each file")
  func check() throws {
    let folder = try TestFolder()
    try folder.write(
      #"[{ "targets": ["127.1", "a.example"] }, { "targets": ["declared.example", "b.example"] }]"#, to: "a.json")
    try folder.write("- targets: [b.example, c.example]\n", to: "b.yml")
    try folder.write("{", to: "c.json")
    let text = "targets: [declared.example]\ntargets_from: [{ file: ['*.json', b.yml, later.yml] }]"
    let result = ConfigurationFiles.resolve(Array(text.utf8), file: folder.path + "/reachd.yaml")
    let found = try #require(result.configuration).checkTargetFiles()
    #expect(found.targets.count == 3)
    let said = found.problems.map { String($0.description.dropFirst(folder.path.utf8.count + 1)) }
    #expect(
      said == [
        "a.json: entry 1: warning: '127.1' is not an IPv4 address: write four numbers, such as 192.0.2.1",
        "a.json: warning: the target 'declared.example' is left out: another of this name comes first",
        "c.json: warning: line 1: this is not valid JSON: 'string or '}' expected near end of file'",
        "b.yml: warning: the target 'b.example' is left out: another of this name comes first",
      ])
  }
}
