import ReachConfig
import ReachCore
import Testing

/// Lists of targets as files and servers have them.
@Suite struct TargetGroupListTests {
  private func read(_ text: String, _ format: TargetFileFormat = .json) throws -> TargetGroupList {
    try TargetGroupList(parsing: Array(text.utf8), as: format)
  }

  @Test("the same list comes out of JSON and of YAML")
  func formats() throws {
    let json = try read(
      """
      [
        { "targets": ["a.example:443", "192.0.2.1"], "labels": { "team": "storage", "__meta_zone": "b" } },
        { "targets": [], "labels": {} },
        { "targets": ["[2001:db8::1]:80"] }
      ]
      """)
    let yaml = try read(
      """
      - targets: [a.example:443, 192.0.2.1]
        labels: { team: storage, __meta_zone: b }
      - targets: []
        labels:
      - targets:
        - '[2001:db8::1]:80'
      """, .yaml)
    #expect(json == yaml)
    #expect(json.problems == [])
    #expect(json.groups.map(\.targets) == [["a.example:443", "192.0.2.1"], [], ["[2001:db8::1]:80"]])
    #expect(json.groups.map(\.labels) == [[Label(name: "team", value: "storage")], [], []])
    #expect(json.groups.map(\.entry) == [1, 2, 3])
  }

  @Test("JSON's own ways are understood: escapes, surrogates, tabs, a name given twice, null for nothing")
  func json() throws {
    #expect(try read("null").groups == [])
    #expect(try read("[]").groups == [])
    let list = try read(
      "\t[\t{\"targets\":[\"a\\/b\", \"\\ud83d\\ude00\"],\"labels\":{\"x\":\"1\",\"x\":\"2\"}},{\"targets\":null,\"labels\":null}]"
    )
    #expect(list.problems == [])
    #expect(list.groups.first?.targets == ["a/b", "\u{1f600}"])
    #expect(list.groups.first?.labels == [Label(name: "x", value: "2")])
  }

  @Test(
    "what is no list is refused as a whole, with its line",
    arguments: [
      ("", "line 1: this is not valid JSON: "), ("[\n{", "line 2: this is not valid JSON: "),
      ("{}", "it is no list; "), ("\"x\"", "it is no list; "), ("[1, 2] x", "line 1: this is not valid JSON: "),
      ("[\"\u{0}\"]", "line 1: this is not valid JSON: "), ("[1e]", "line 1: this is not valid JSON: "),
      ("[\n01234567890123456789]", "line 2: this is not valid JSON: "),
    ])
  func noList(text: String, message: String) {
    #expect { try read(text) } throws: { "\($0)".hasPrefix(message) }
  }

  @Test("YAML that is none is refused with its line, and an empty file is an empty list")
  func brokenYAML() throws {
    #expect { try read("- targets: [a\n- b", .yaml) } throws: { "\($0)".hasPrefix("line ") }
    #expect { try read("a: b", .yaml) } throws: { "\($0)".hasPrefix("it is no list; ") }
    #expect { try TargetGroupList(parsing: [0xff], as: .yaml) } throws: { "\($0)".hasPrefix("line 1: ") }
    for empty in ["", "# nothing\n", "null", "[]"] { #expect(try read(empty, .yaml) == TargetGroupList()) }
  }

  @Test("a bad entry is one problem that names it, and the others stay")
  func badEntries() throws {
    let list = try read(
      """
      [ "a.example", { "labels": {} }, { "targets": "b.example" }, { "targets": [1, null, "c.example"] },
        { "targets": ["d.example"], "labels": { "n": 1, "ok": "yes" }, "extra": true } ]
      """)
    #expect(list.groups.flatMap(\.targets) == ["c.example", "d.example"])
    #expect(list.groups.last?.labels == [Label(name: "ok", value: "yes")])
    #expect(list.problems.map(\.entry) == [1, 2, 3, 4, 4, 5, 5])
    #expect(
      list.problems.first?.description
        == "entry 1: it is no map with 'targets' and 'labels'; write { \"targets\": [\"example.com:443\"] }")
  }

  @Test(
    "a value that libjansson cannot take is one problem that names its entry, and the others stay",
    arguments: [
      #"{ "targets": ["a.example", 1e400] }"#, #"{ "targets": ["a.example", -1.5E+999999999999] }"#,
      #"{ "targets": ["a.example", 123456789012345678901234567890] }"#,
      "{ \"targets\": [\"a.example\", \(String(repeating: "9", count: 5_000))] }",
      #"{ "targets": ["a.example"], "labels": { "n": 1e400 } }"#,
      #"{ "targets": ["a.example"], "labels": { "n": "x\u0000y" } }"#,
      #"{ "targets": ["a.example"], "x\u0000y" : 1 }"#, #"{ "targets": ["a.example"], "\ud800": 1 }"#,
    ])
  func unfitValues(entry: String) throws {
    let list = try read("[{ \"targets\": [\"first.example\"] }, \(entry), { \"targets\": [\"last.example\"] }]")
    #expect(list.groups.flatMap(\.targets) == ["first.example", "a.example", "last.example"])
    #expect(list.groups.flatMap(\.labels) == [])
    #expect(list.problems.map(\.entry) == [2])
  }

  @Test("half a surrogate pair is read as U+FFFD, and what is in texts is no number and no escape where it is none")
  func texts() throws {
    let list = try read(
      #"[{ "targets": ["\udc00x", "\ud83dx", "\ud83d\ud83d\ude00", "1e400", "\\u0000", "a\u0000"] }]"#)
    #expect(list.problems == [])
    #expect(
      list.groups.first?.targets == [
        "\u{fffd}x", "\u{fffd}x", "\u{fffd}\u{1f600}", "1e400", #"\u0000"#, "a\u{0}",
      ])
  }

  @Test("a YAML entry with a key given twice is a problem and no lost list")
  func duplicateKey() throws {
    let list = try read("- targets: [a.example]\n  targets: [b.example]\n- targets: [c.example]\n", .yaml)
    #expect(list.groups.flatMap(\.targets).contains("c.example"))
    #expect(list.problems.map(\.description).count == 1)
  }

  @Test("problems are bounded, and so is what a list may take")
  func bounds() throws {
    let many = "[" + (0..<5_000).map { _ in "1" }.joined(separator: ",") + "]"
    #expect(try read(many).problems.count == 101)
    let deep = String(repeating: "[", count: 100_000)
    #expect(throws: (any Error).self) { try read(deep) }
    let wide = "[" + String(repeating: "[],", count: 1_100_000) + "[]]"
    #expect { try read(wide) } throws: { "\($0)".contains("more than 1000000 values") }
    #expect { try read(String(repeating: " ", count: 9 << 20)) } throws: { "\($0)".contains("larger than 8 MiB") }
  }

  @Test("damaged lists are answered", .timeLimit(.minutes(4)))
  func damaged() {
    let original = Array(
      #"[{"targets":["a.example:443","192.0.2.1","[2001:db8::1]:80"],"labels":{"team":"storage","__meta_x":"y"}}]"#.utf8
    )
    var generator = FuzzTests.Generator(state: 3)
    for _ in 0..<3_000 {
      let bytes = FuzzTests.damaged(original, &generator)
      for format in [TargetFileFormat.json, .yaml] { _ = try? TargetGroupList(parsing: bytes, as: format) }
    }
  }
}
