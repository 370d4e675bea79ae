import Glibc
import ReachConfig
import ReachCore
import ReachDiscovery
import ReachIO
import ReachTestSupport
import Testing

/// Targets in files that come, change and go.
@Suite(.timeLimit(.minutes(4))) struct FileDiscoveryTests {
  private static let globs = "targets_from: [{ file: ['t/*.json', 't/*.yml'] }]\ntargets: [declared.example]"

  private static func list(_ names: String...) -> String {
    #"[{ "targets": [\#(names.map { "\"\($0)\"" }.joined(separator: ", "))] }]"#
  }

  @Test("files that match are there from the start, and those that come, change, are renamed or go are noticed")
  func changes() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      try stage.folder.write(Self.list("a.example"), to: "t/a.json")
      try await stage.start(Self.globs)
      #expect(stage.names == ["a.example"], "files are read before anything else happens")
      try stage.folder.write("- targets: [y.example]\n", to: "t/y.yml")
      try await stage.wait(for: ["a.example", "y.example"])
      try stage.folder.write(Self.list("b.example", "c.example"), to: "t/a.tmp")
      try stage.rename("t/a.tmp", "t/a.json")
      try await stage.wait(for: ["b.example", "c.example", "y.example"])
      try stage.folder.write(Self.list("d.example"), to: "t/a.json")
      try await stage.wait(for: ["d.example", "y.example"])
      try stage.remove("t/a.json")
      try await stage.wait(for: ["y.example"])
      #expect(stage.problems == [])
      #expect(stage.discovery?.samples.map(\.targets) == [1])
      #expect(stage.discovery?.samples.first?.lastSuccess != nil)
    }
  }

  @Test("a folder that comes later, and a volume of Kubernetes that exchanges its ..data, are noticed")
  func volumes() async throws {
    try await withDiscovery { stage in
      try await stage.start(Self.globs)
      #expect(stage.names == [])
      #expect(stage.problems == [" 0 there is no such file yet; write one, or mend the path"])
      for (version, name) in [("1", "a.example"), ("2", "b.example")] {
        try stage.makeFolder("v\(version)")
        try stage.folder.write(Self.list(name), to: "v\(version)/x.json")
      }
      try stage.makeFolder("volume")
      try stage.link("volume/..data", to: "../v1")
      try stage.link("volume/x.json", to: "..data/x.json")
      try stage.rename("volume", "t")
      try await stage.wait(for: ["a.example"])
      try stage.link("t/..new", to: "../v2")
      try stage.rename("t/..new", "t/..data")
      try await stage.wait(for: ["b.example"])
    }
  }

  @Test("a file that breaks keeps what it had last, with one warning however often it is read")
  func broken() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      try stage.folder.write(Self.list("a.example"), to: "t/a.json")
      try stage.folder.write(Self.list("b.example"), to: "t/b.json")
      try await stage.start(Self.globs)
      try stage.folder.write("{", to: "t/a.json")
      try await stage.wait("the warning") { stage.problems.count == 1 }
      try stage.folder.write(Self.list("c.example"), to: "t/b.json")
      try await stage.wait(for: ["a.example", "c.example"])
      #expect(stage.problems.count == 1)
      #expect(stage.problems.first?.hasPrefix("a.json kept 1 line 1: this is not valid JSON: ") == true)
      #expect((stage.discovery?.samples.first?.failures ?? 0) >= 1)
      try stage.folder.write(Self.list("d.example"), to: "t/a.json")
      try await stage.wait(for: ["d.example", "c.example"])
      #expect(stage.events.last == .discovered(source: "t/*.json,t/*.yml", targets: 2))
      try stage.folder.write("{", to: "t/a.json")
      try await stage.wait("the warning anew") { stage.problems.count == 2 }
    }
  }

  @Test("a reload says nothing again, keeps what a broken file had last, and misses no file that went meanwhile")
  func reload() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      for name in ["a", "b"] { try stage.folder.write(Self.list("\(name).example"), to: "t/\(name).json") }
      try await stage.start(Self.globs)
      try stage.folder.write("{", to: "t/a.json")
      try await stage.wait("the warning") { stage.problems.count == 1 }
      stage.discovery?.stop()
      try stage.remove("t/b.json")
      let said = stage.events.count
      try await stage.start(Self.globs)
      #expect(stage.names == ["a.example"])
      #expect(stage.problems.count == 1)
      #expect(stage.events.dropFirst(said) == [.discovered(source: "t/*.json,t/*.yml", targets: 1)])
    }
  }

  @Test("a bad entry is one warning that names file and entry, the rest is there, and it is not said again")
  func badEntries() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      let bad = #"[{ "targets": ["127.1", "a.example"] }, 7]"#
      try stage.folder.write(bad, to: "t/a.json")
      try await stage.start(Self.globs)
      #expect(stage.names == ["a.example"])
      let said = stage.problems
      #expect(said.count == 2)
      #expect(said.contains("a.json 1 '127.1' is not an IPv4 address: write four numbers, such as 192.0.2.1"))
      try stage.folder.write(bad + "\n", to: "t/a.json")
      try stage.folder.write(Self.list("z.example"), to: "t/z.json")
      try await stage.wait(for: ["a.example", "z.example"])
      #expect(stage.problems == said)
    }
  }

  @Test("a target that holds NUL, or a number beyond all bounds, costs no other target of the file")
  func unfitValues() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      try stage.folder.write(
        #"[{ "targets": ["a.example", "x\u0000.example"] }, { "targets": [1e400, "b.example"] }]"#, to: "t/a.json")
      try await stage.start(Self.globs)
      #expect(stage.names == ["a.example", "b.example"])
      #expect(stage.problems.count == 2)
      #expect(stage.problems.contains { $0.hasPrefix("a.json 1 ") && $0.contains(#"'x\u{0}.example'"#) })
      #expect(stage.problems.contains { $0.hasPrefix("a.json 2 a target is no text") })
    }
  }

  @Test("files that have the stamp they had are not read again for the change of another")
  func untouched() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      try stage.folder.write(Self.list("a.example"), to: "t/a.json")
      try stage.folder.write(Self.list("b.example"), to: "t/b.json")
      // A file that has just changed is read once more, since its stamp says little yet.
      _ = await stage.loop.sleep(until: stage.loop.now().advanced(by: .milliseconds(100)))
      try await stage.start(Self.globs)
      let opening = try OpeningWatch(of: stage.path("t/a.json"))
      try stage.folder.write(Self.list("c.example"), to: "t/b.json")
      try await stage.wait(for: ["a.example", "c.example"])
      #expect(!opening.wasOpened)
      try stage.folder.write(Self.list("d.example"), to: "t/a.json")
      try await stage.wait(for: ["d.example", "c.example"])
      #expect(opening.wasOpened)
    }
  }

  @Test("a reload on a running loop tells nothing before the files are read, and two at once lose no list")
  func reloads() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      try stage.folder.write(Self.list("a.example"), to: "t/a.json")
      try await stage.start(Self.globs)
      try stage.folder.write("{", to: "t/a.json")
      try await stage.wait("the warning") { stage.problems.count == 1 }
      let told = stage.lists.count
      try stage.begin(Self.globs)
      try stage.begin(Self.globs)
      #expect(stage.lists.count == told)
      #expect(stage.discovery?.samples.map(\.targets) == [1])
      try await stage.wait("the list") { stage.lists.count > told }
      #expect(stage.lists.dropFirst(told).allSatisfy { $0.map(\.target.name) == ["a.example"] })
      try await stage.start("targets_from: [{ file: 't/*.json', name: other }]")
      #expect(stage.names == [], "another name is another source")
    }
  }

  @Test("a name that is declared, or in an earlier file, is left out with one warning")
  func duplicates() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      try stage.folder.write(Self.list("a.example", "declared.example"), to: "t/a.json")
      try stage.folder.write(Self.list("a.example", "b.example"), to: "t/b.json")
      try await stage.start(Self.globs)
      #expect(stage.names == ["a.example", "b.example"])
      #expect(
        stage.problems == [
          "a.json 0 the target 'declared.example' is left out, since it is already under 'targets'",
          "b.json 0 the target 'a.example' is left out, since it is already in \(stage.path("t/a.json"))",
        ])
      try stage.remove("t/a.json")
      try await stage.wait("the other to take its place") {
        stage.lists.count > 1 && stage.names == ["a.example", "b.example"]
      }
    }
  }

  @Test("a thousand changes leave no descriptor and no timer behind, and end in the newest list")
  func many() async throws {
    try await withDiscovery { stage in
      try stage.makeFolder("t")
      try await stage.start(Self.globs)
      let timers = stage.loop.pendingTimers
      for number in 0..<1000 {
        try stage.folder.write(Self.list("n\(number).example"), to: "t/\(number % 7).json")
      }
      let names = (0..<7).map { index in "n\((0..<1000).last { $0 % 7 == index } ?? 0).example" }
      try await stage.wait(for: names)
      #expect(stage.lists.count < 500, "a burst is told together")
      stage.stop()
      #expect(stage.loop.pendingTimers <= timers)
    }
  }
}
