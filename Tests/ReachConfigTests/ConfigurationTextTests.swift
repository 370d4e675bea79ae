import ReachConfig
import ReachCore
import ReachProbe
import Testing

@Suite struct ConfigurationTextTests {
  private static func text(_ configuration: Configuration) -> String {
    var text = ConfigurationText(configuration) { ConfigurationFiles.options(of: $0) }
    var bytes: [UInt8] = []
    while text.next(into: &bytes) {}
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What the configuration comes to once it has been written and read, with the one thing that is filled in.
  private static func expected(_ configuration: Configuration) -> Configuration {
    var expected = configuration
    expected.defaults.timeout = min(expected.defaults.timeout, expected.defaults.interval)
    return expected
  }

  @Test(
    "every good file and every example, written with its defaults filled in, loads to the same again",
    arguments: ConfigurationFiles.names(in: ConfigurationFiles.good, ending: ".yaml").map {
      ConfigurationFiles.good + "/" + $0
    }
      + ConfigurationFiles.names(in: ConfigurationFiles.samples + "/examples", ending: ".yaml").map {
        ConfigurationFiles.samples + "/examples/" + $0
      })
  func files(path: String) throws {
    let configuration = try #require(
      ConfigurationFiles.resolve(ConfigurationFiles.bytes(path + ".yaml")).configuration)
    let text = Self.text(configuration)
    let again = ConfigurationFiles.resolve(text)
    #expect(again.problems.filter { $0.severity == .error } == [], "\(text)")
    #expect(again.configuration == Self.expected(configuration), "\(text)")
    #expect(try Self.text(#require(again.configuration)) == text)
  }

  @Test("texts that look like something else, or cannot be seen, come back as they were")
  func awkward() throws {
    let values = [
      "no", "NO", "true", "null", "~", "", " ", "12", "0x10", "0100", "1:30", "1.5", ".inf", "- a", "a: b", "a #b", "#",
      "it's", "say \"hi\"", "back\\slash", "line\nfeed", "tab\tstop", "bell\u{7}", "caf\u{e9}", "\u{feff}mark",
      "\u{2028}", "\u{85}", "\u{1f600}", "*alias", "&anchor", "!tag", "%directive", "@at", "`tick`", "{a}", "[b]",
      "a, b",
      "?", "|", ">", "---", "...", "=", "<<", "\u{202e}", "trailing ", "0.0.0.0.", "1e3", "y", "2026-11-30", "a:",
      "\r\n",
    ]
    var configuration = try #require(ConfigurationFiles.resolve("targets: [192.0.2.1]").configuration)
    let target = try #require(configuration.targets.first)
    configuration.targets = values.enumerated().map { index, value in
      var copy = target
      copy.target.name = "\(index) \(value)"
      copy.target.labels = [Label(name: "value", value: value)]
      return copy
    }
    let text = Self.text(configuration)
    let again = ConfigurationFiles.resolve(text)
    #expect(again.problems == [], "\(text)")
    #expect(again.configuration?.targets.map { $0.target.labels.first?.value } == values)
    #expect(again.configuration == configuration)
  }

  @Test("durations come back to the nanosecond")
  func durations() throws {
    let times: [Duration] = [
      .milliseconds(1), .nanoseconds(1_000_001), .microseconds(1_500), .milliseconds(250), .milliseconds(61_001),
      .seconds(90), .nanoseconds(3_600_000_000_001), .seconds(86_400 * 365),
    ]
    for time in times {
      var configuration = try #require(ConfigurationFiles.resolve("targets: [192.0.2.1]").configuration)
      configuration.defaults.interval = time
      configuration.defaults.timeout = time
      #expect(ConfigurationFiles.resolve(Self.text(configuration)).configuration?.defaults.interval == time)
    }
  }

  @Test("a probe that was given the whole round keeps it, though its backend has a shorter time")
  func wholeRound() throws {
    let source = """
      backends: { link: {}, route: {}, tcp: { timeout: 1s } }
      targets:
        - address: 192.0.2.1
          port: 80
          timeout: 5s
          probes: [link, route, { tcp: { timeout: 5s } }]
      """
    let configuration = try #require(ConfigurationFiles.resolve(source).configuration)
    #expect(configuration.targets.first?.probes.last?.timeout == nil)
    let again = ConfigurationFiles.resolve(Self.text(configuration))
    #expect(again.problems == [])
    #expect(again.configuration == configuration)
  }

  @Test("what is written reads well")
  func sample() throws {
    let configuration = try #require(
      ConfigurationFiles.resolve(
        """
        backends: { link: {}, route: {}, dns: { timeout: 2s }, tcp: {} }
        targets:
          - { name: db, host: db.internal, port: 5432, interval: 2s, labels: { team: storage, tier: "1" },
              source: { mark: 16 } }
        """
      ).configuration)
    let text = Self.text(configuration)
    #expect(
      text.split(separator: "targets:\n").last == """
          - name: db
            host: db.internal
            port: 5432
            interval: 2s
            timeout: 2s
            fall: 2
            rise: 1
            status_rule: afnetworking
            tcp_policy: service
            address_policy: any
            unknown_after: 3
            hold: 0s
            search: false
            resolve: { min: 5s, max: 5m }
            labels: { team: storage, tier: "1" }
            source: { mark: 0x10 }
            probes:
              - link
              - route
              - dns: { family: any, attempts: 2, tcp: false }
              - tcp

        """)
    #expect(
      text.hasPrefix("web:\n  listen: [\"127.0.0.1:10120\"]\nwatch: false\nlog: { level: info, output: stderr }\n"))
  }
}
