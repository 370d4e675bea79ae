import ReachTestSupport
import Testing

@testable import ReachConfig

/// What `docs/configuration.md` says of each key, and the reader of the file beside it. The options of backends are
/// held to their plugins by DeployTests, which have these.
@Suite struct ConfigurationReferenceTests {
  /// A map of the file: the headings under which its keys stand, and files in which `@` is a place for one of them.
  private struct Section {
    let headings: [String]
    let samples: [String]

    init(_ headings: String..., in samples: String...) {
      self.headings = headings
      self.samples = samples
    }
  }

  private static let sections = [
    Section("THE FILE", in: "@\n"),
    Section("defaults", in: "defaults: { @ }"),
    Section("resolve", in: "defaults: { resolve: { @ } }"),
    Section("targets", in: "targets: [{ host: h.example, @ }]"),
    Section("pair", in: "targets: [{ name: p, pair: { @ } }]"),
    Section("source", in: "targets: [{ host: h.example, source: { @ } }]"),
    Section(
      "targets_from", in: "targets_from: [{ file: a.json, @ }]", "targets_from: [{ http: 'https://h.example/', @ }]",
      "targets_from: [{ srv: _s._tcp.example, @ }]", "targets_from: [{ @ }]"),
    Section("basic_auth", in: "targets_from: [{ http: 'https://h.example/', basic_auth: { @ } }]"),
    Section(
      "authorization", in: "targets_from: [{ http: 'https://h.example/', authorization: { credentials_file: f, @ } }]"),
    Section("tls_config of a source", in: "targets_from: [{ http: 'https://h.example/', tls_config: { @ } }]"),
    Section("modules", "A module of tcp", in: "modules: { m: { backend: tcp, @ } }"),
    Section("query_response", in: "modules: { m: { backend: tcp, query_response: [{ @ }] } }"),
    Section(
      "labels of a step",
      in: "modules: { m: { backend: tcp, query_response: [{ expect: a, labels: [{ name: n, @ }] }] } }"),
    Section("modules", "A module of dns", in: "modules: { m: { backend: dns, query_name: example.com, @ } }"),
    Section(
      "validate_answer_rrs and its like",
      in: "modules: { m: { backend: dns, query_name: a, validate_answer_rrs: { @ } } }",
      "modules: { m: { backend: dns, query_name: a, validate_authority_rrs: { @ } } }",
      "modules: { m: { backend: dns, query_name: a, validate_additional_rrs: { @ } } }"),
    Section(
      "tls_config of a module", in: "modules: { m: { backend: tcp, tls_config: { @ } } }",
      "modules: { m: { backend: dns, query_name: a, tls_config: { @ } } }"),
    Section("web", in: "web: { @ }"),
    Section("log", in: "log: { @ }"),
    Section("metrics", in: "metrics: { @ }"),
  ]
  /// Where the options of backends stand.
  private static let backends: Set = ["BACKENDS", "link", "route", "dns", "tcp"]
  private static let unheardOf = "qqqqqqqqqqqqqqqq"

  private static func page() throws -> String { try Repository.text("docs/configuration.md") }

  private static func keys(under headings: [String]) throws -> [DocumentedKey] {
    DocumentedKey.all(in: try page()).filter { headings.contains($0.section) }
  }

  private static func read(_ sample: String, with entry: String) -> ConfigurationResult {
    ConfigurationFiles.resolve(sample.replacing("@", with: entry))
  }

  /// The lists of known keys that the complaints about an unheard-of one end with.
  private static func known(_ result: ConfigurationResult) -> [Set<String>] {
    result.problems.compactMap { problem in
      guard problem.message.hasPrefix("unknown key '\(unheardOf)'") else { return nil }
      return problem.message.firstMatch(of: /; known are (.+)$/).map {
        Set($0.output.1.split(separator: ", ").map(String.init))
      }
    }
  }

  private static func hasErrors(_ result: ConfigurationResult) -> Bool { result.configuration == nil }

  @Test("every key that the file may have is documented, and no other")
  func keys() throws {
    var seen: Set<String> = []
    for section in Self.sections {
      var known: Set<String> = []
      for sample in section.samples {
        let lists = Self.known(Self.read(sample, with: "\(Self.unheardOf): 1"))
        try #require(lists.count == 1, "\(sample)")
        known.formUnion(lists[0])
      }
      let documented = try Self.keys(under: section.headings).map(\.name)
      #expect(Set(documented) == known, "\(section.headings)")
      #expect(documented.count == known.count, "a key of \(section.headings) stands twice")
      seen.formUnion(section.headings)
    }
    let headings = Set(DocumentedKey.all(in: try Self.page()).map(\.section))
    #expect(headings == seen.union(Self.backends.subtracting(["route"])), "a section that this test does not know")
  }

  @Test("every map that a documented key may hold is one of those that are documented")
  func maps() throws {
    var lists = Self.sections.flatMap { section in
      section.samples.flatMap { Self.known(Self.read($0, with: "\(Self.unheardOf): 1")) }
    }
    // Those of a source, of which the page says that they are the file's and one more.
    lists.append(Set(try Self.keys(under: ["defaults"]).map(\.name)).union(["probes"]))
    for section in Self.sections {
      for key in try Self.keys(under: section.headings) {
        for shape in ["{ \(Self.unheardOf): 1 }", "[{ \(Self.unheardOf): 1 }]"] {
          for sample in section.samples {
            for list in Self.known(Self.read(sample, with: "\(key.name): \(shape)")) {
              #expect(lists.contains(list), "\(key.name) of \(section.headings) holds a map with \(list)")
            }
          }
        }
      }
    }
  }

  @Test("to write a default that is documented changes nothing")
  func defaults() throws {
    var count = 0
    for section in Self.sections {
      for key in try Self.keys(under: section.headings) {
        guard let value = key.defaultValue else { continue }
        count += 1
        var isAccepted = false
        for sample in section.samples {
          var written = Self.read(sample, with: "\(key.name): \(value)").configuration
          // The agent's own default, which leaves the file the choice of saying nothing.
          if key.section == "log", written?.log.format == .json { written?.log.format = nil }
          guard let written else { continue }
          isAccepted = true
          #expect(written == Self.read(sample, with: "").configuration, "\(key.name) of \(key.section)")
        }
        #expect(isAccepted, "\(key.name) of \(key.section) cannot be \(value)")
      }
    }
    #expect(count > 50)
  }

  @Test("the words and the ranges that are documented are those that are accepted")
  func values() throws {
    for section in Self.sections {
      for key in try Self.keys(under: section.headings) {
        guard let sample = section.samples.first else { continue }
        if key.type == "word" {
          let result = Self.read(sample, with: "\(key.name): \(Self.unheardOf)")
          let message = try #require(result.problems.first { $0.severity == .error }?.message, "\(key.name)")
          let words = try #require(message.firstMatch(of: #/ is none of ([^;]+);/#), "\(message)")
          for word in words.output.1.split(separator: ", ") {
            // What is as for another kind of module is said there.
            #expect(key.text.contains("`\(word)`") || key.text.contains("As for `tcp`"), "\(key.name): \(word)")
          }
        } else if key.type == "integer" {
          let range = try #require(key.text.firstMatch(of: #/From (\d+) to (\d+)\. /#), "\(key.name) has no range")
          let (least, most) = (try #require(Int(range.output.1)), try #require(Int(range.output.2)))
          for (number, isInside) in [(least, true), (most, true), (least - 1, false), (most + 1, false)] {
            let result = Self.read(sample, with: "\(key.name): \(number)")
            #expect(Self.hasErrors(result) != isInside, "\(key.name): \(number)")
          }
        }
      }
    }
  }

  @Test("a key that is missed where it is left out is documented as required")
  func required() throws {
    for (sample, missing) in [
      ("targets: [{ name: p, pair: { local: 192.0.2.1 } }]", "remote"),
      ("targets: [{ name: p, pair: { remote: 192.0.2.1 } }]", "local"),
      ("targets_from: [{ http: 'https://h.example/', basic_auth: { username: u } }]", "password_file"),
      ("targets_from: [{ http: 'https://h.example/', basic_auth: { password_file: f } }]", "username"),
      ("targets_from: [{ http: 'https://h.example/', authorization: { type: T } }]", "credentials_file"),
      ("modules: { m: { timeout: 1s } }", "backend"), ("modules: { m: { backend: dns } }", "query_name"),
      ("modules: { m: { backend: tcp, query_response: [{ expect: a, labels: [{ value: v }] }] } }", "name"),
    ] {
      let result = ConfigurationFiles.resolve(sample)
      #expect(result.problems.contains { $0.severity == .error && $0.message.contains(missing) }, "\(sample)")
      let keys = DocumentedKey.all(in: try Self.page()).filter { $0.name == missing && $0.text.hasPrefix(", required") }
      #expect(!keys.isEmpty, "\(missing) is not documented as required")
    }
  }

  @Test("every key stands in an example of the page")
  func examples() throws {
    let page = try Self.page()
    let examples = page.matches(of: /(?s)```yaml\n(.*?)```/).map { String($0.output.1) }.joined()
    for key in DocumentedKey.all(in: page) {
      let isThere = examples.firstMatch(of: try Regex("(^|[ {,#\\n-])\(key.name):")) != nil
      #expect(isThere, "\(key.name) of \(key.section)")
    }
  }
}
