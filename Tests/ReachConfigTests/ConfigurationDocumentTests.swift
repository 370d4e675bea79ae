import Glibc
import ReachConfig
import ReachCore
import ReachProbe
import Testing

@Suite struct ConfigurationDocumentTests {
  @Test("what finds the plugins is known before they are")
  func early() {
    let text = "plugin_path: [/a, b]\nbackends: { tcp: { timeout: nonsense }, icmp: , Wrong-Name: {} }\ntargets: 5\n"
    let document = ConfigurationDocument(parsing: Array(text.utf8), file: "F")
    #expect(document.pluginPath == ["/a", "b"])
    #expect(document.backendNames == ["tcp", "icmp"])
  }

  @Test("where state is kept is known whatever else is wrong, and nothing is said against it")
  func stateDirectory() {
    for (text, folder) in [
      ("state_dir: /var/lib/reachd\ntargets: 5\n", "/var/lib/reachd"), ("state_dir: relative\n", nil), ("", nil),
    ] {
      #expect(ConfigurationDocument(parsing: Array(text.utf8), file: "F").stateDirectory == folder)
    }
    let result = ConfigurationFiles.resolve("state_dir: /var/lib/reachd\ntargets: [192.0.2.1]\n")
    #expect(result.problems == [])
    #expect(result.configuration?.stateDirectory == "/var/lib/reachd")
  }

  @Test("without a word about backends there are the four standard ones")
  func standardBackends() {
    let document = ConfigurationDocument(parsing: [], file: "F")
    #expect(document.pluginPath == nil)
    #expect(document.backendNames == ["link", "route", "dns", "tcp"])
  }

  @Test("options of a backend that is not there are left unchecked, but for the framework's own")
  func unknownBackend() throws {
    let text = """
      backends: { link: {}, route: {}, icmp: { size: 56, timeout: 1 } }
      targets:
        - address: 192.0.2.1
          probes: [route, icmp: { whatever: [1, 2] }]
      """
    let result = ConfigurationFiles.resolve(text)
    #expect(
      result.problems.map(\.description) == [
        "reachd.yaml:1:61: error: timeout: '1' has no unit; write 1s for seconds"
      ])
  }

  @Test("another backend than the standard ones may look at any target")
  func otherBackend() throws {
    let text = """
      backends: { icmp: { timeout: 1s } }
      targets:
        - { host: example.com, probes: [icmp] }
        - { default: true, probes: [icmp: { timeout: 20s }] }
      """
    let result = ConfigurationFiles.resolve(text)
    #expect(
      result.problems.map(\.description) == [
        "reachd.yaml:4:48: warning: timeout: 20s is above the round's timeout of 5s, which ends the probe first"
      ])
    let targets = try #require(result.configuration).targets
    #expect(targets.map(\.probes).map { $0.map(\.timeout) } == [[.seconds(1)], [nil]])
  }

  @Test("who may have the file read again, and whether its changes are followed, is read and shown")
  func reloading() throws {
    let plain = try #require(ConfigurationFiles.resolve("targets: [default]\n").configuration)
    #expect(plain.isReloadAllowed == nil && !plain.isWatched)
    let said = try #require(
      ConfigurationFiles.resolve("web: { reload: false }\nwatch: true\ntargets: [default]\n").configuration)
    #expect(said.isReloadAllowed == false && said.isWatched)
    #expect(
      ConfigurationFiles.resolve("web: { reload: 1 }\nwatch: maybe\n").problems.map(\.severity) == [
        .warning, .error, .error,
      ])
  }

  @Test("an explicit timeout is kept, an inherited one capped to the interval")
  func timeouts() throws {
    let text = """
      defaults: { interval: 2s }
      targets:
        - a.example
        - { host: b.example, interval: 30s }
        - { host: c.example, interval: 30s, timeout: 30s }
        - { host: d.example, timeout: 1m30s, interval: 2m }
      """
    let targets = try #require(ConfigurationFiles.resolve(text).configuration).targets
    #expect(targets.map(\.target.policy.timeout) == [.seconds(2), .seconds(5), .seconds(30), .seconds(90)])
  }

  @Test("a name that ends in a dot is not searched for")
  func absolute() throws {
    let text = "defaults: { search: true }\ntargets: [db, db., { name: x, host: db.example. }]\n"
    let targets = try #require(ConfigurationFiles.resolve(text).configuration).targets
    #expect(targets.map(\.target.policy.search) == [true, false, false])
  }

  @Test("a target of the command line is one of the file's by name, or made from its short form")
  func commandLine() throws {
    let text = "defaults: { interval: 2s }\ntargets: [ { name: db, host: db.example, port: 5432 } ]\n"
    let configuration = try #require(ConfigurationFiles.resolve(text).configuration)
    #expect(try configuration.target(parsing: "db") == configuration.targets[0])
    let made = try configuration.target(parsing: "[2001:db8::1]:443")
    #expect(made.target.port == 443)
    #expect(made.target.policy.timeout == .seconds(2))
    #expect(made.probes.map(\.backend) == ["link", "route", "tcp"])
    #expect(made.probes[2].options == configuration.backends[3].options)
    #expect(throws: ValueError.self) { try configuration.target(parsing: "http://example.com") }
  }

  @Test("a target of the command line may need a backend that the file leaves out")
  func commandLineWithoutBackend() throws {
    let text = "backends: { link: {}, route: {} }\ntargets: [192.0.2.1]\n"
    let configuration = try #require(ConfigurationFiles.resolve(text).configuration)
    #expect(throws: ValueError.self) { try configuration.target(parsing: "example.com") }
  }

  @Test("a file that cannot be read says why")
  func unreadable() {
    let missing = "/nonexistent/reachd.yaml"
    let error = #expect(throws: ConfigurationFileError.self) { try ConfigurationDocument(readingFile: missing) }
    #expect(
      error?.description
        == "/nonexistent/reachd.yaml: error: there is no such file; write one, or name another with --config")
    let folder = #expect(throws: ConfigurationFileError.self) { try ConfigurationDocument(readingFile: "/") }
    #expect(folder?.message == "it is a folder; name a file in it")
  }

  @Test("a file is read whole")
  func readable() throws {
    let path = "\(ConfigurationFiles.samples)/reachd.yaml"
    let document = try ConfigurationDocument(readingFile: path)
    #expect(document.file == path)
    let result = document.resolve { ConfigurationFiles.options(of: $0) }
    #expect(result == ConfigurationFiles.resolve(ConfigurationFiles.bytes(path), file: path))
  }

  @Test("a file above the limit is refused before it is parsed")
  func tooLarge() {
    let result = ConfigurationFiles.resolve([UInt8](repeating: UInt8(ascii: "#"), count: (16 << 20) + 1))
    #expect(
      result.problems.map(\.description) == [
        "reachd.yaml:1:1: error: the file is larger than 16 MiB; split the targets over agents"
      ])
  }

  @Test("more problems than anybody reads are cut, and it is said")
  func manyProblems() {
    let text = "targets:\n" + (0..<10_001).map { "- a b\($0)\n" }.joined()
    let problems = ConfigurationFiles.resolve(text).problems
    #expect(problems.count == 10_001)
    #expect(problems.last?.message == "there are more than 10000 problems; the rest is left out")
  }

  @Test("equal probes and labels of many targets share their storage")
  func sharing() throws {
    let targets = (0..<3).map {
      "  - { address: 192.0.2.\($0), port: 80, labels: { a: b }, probes: [tcp: { timeout: 1s }] }\n"
    }
    let text = "targets:\n" + targets.joined()
    let read = try #require(ConfigurationFiles.resolve(text).configuration).targets
    let places = read.map { target in
      unsafe target.probes.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) }
    }
    #expect(Set(places).count == 1)
  }
}
