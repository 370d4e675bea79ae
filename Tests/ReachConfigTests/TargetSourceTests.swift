import ReachConfig
import ReachCore
import ReachProbe
import Testing

/// `targets_from:` and what is made of the targets that are found.
@Suite struct TargetSourceTests {
  private func configuration(_ text: String, file: String = "etc/reachd.yaml") throws -> Configuration {
    let result = ConfigurationFiles.resolve(Array(text.utf8), file: file)
    #expect(result.problems == [])
    return try #require(result.configuration)
  }

  private func targets(_ text: String, json: String) throws -> ([ConfiguredTarget], [String]) {
    let configuration = try configuration(text)
    let source = try #require(configuration.sources.first)
    let found = TargetAssembler(configuration, for: source)
      .targets(of: try TargetGroupList(parsing: Array(json.utf8), as: .json))
    return (found.targets, found.problems.map(\.description))
  }

  @Test("each kind of source is read with what is documented for it, and needs no declared target beside it")
  func kinds() throws {
    let sources = try configuration(
      """
      defaults: { interval: 30s }
      targets_from:
        - file: "targets.d/*.json"
        - file: [a.yml, /srv/b.YAML]
          refresh: 1m
          name: inventory
          labels: { site: fra1 }
          defaults: { interval: 2s, fall: 4, probes: [link, route, { tcp: { port: 9100 } }] }
        - http: https://SD.example/targets?token=abc
          basic_auth: { username: reachd, password_file: secret }
          tls_config: { ca_file: /etc/ca.pem, cert_file: c.pem, key_file: k.pem, insecure_skip_verify: true }
        - http: http://[::1]:8080
          refresh: 10s
          authorization: { credentials_file: /run/token }
        - srv: _db._tcp.example
          server: [198.51.100.53, "[2001:db8::53]:5353"]
      """
    ).sources
    #expect(
      sources.map(\.name) == [
        "targets.d/*.json", "inventory", "https://sd.example/targets", "http://[::1]:8080/", "_db._tcp.example",
      ])
    guard case .files(let first) = sources[0].place, case .files(let second) = sources[1].place,
      case .http(let secure) = sources[2].place, case .http(let plain) = sources[3].place,
      case .srv(let service) = sources[4].place
    else {
      Issue.record("the kinds differ")
      return
    }
    #expect(first.paths == ["etc/targets.d/*.json"], "a relative path is relative to the configuration")
    #expect(first.refresh == .seconds(300))
    #expect(second.paths == ["etc/a.yml", "/srv/b.YAML"])
    #expect(second.refresh == .seconds(60))
    #expect(sources[1].policy.interval == .seconds(2) && sources[1].policy.fall == 4)
    #expect(sources[1].policy.timeout == .seconds(2), "an inherited timeout is capped to the interval")
    #expect(sources[1].probes?.map(\.backend) == ["link", "route", "tcp"])
    #expect(sources[0].policy.interval == .seconds(30), "the file's defaults hold where the source says nothing")
    #expect(secure.url.text == "https://sd.example/targets?token=abc")
    #expect(secure.url.masked == "https://sd.example/targets?token=hidden")
    #expect(secure.authorization == .basic(username: "reachd", passwordFile: "secret"))
    #expect(secure.path(of: "secret") == "etc/secret")
    #expect(secure.tls.skipsVerification && secure.tls.authorityFile == "/etc/ca.pem")
    #expect(plain.authorization == .credentials(type: "Bearer", file: "/run/token"))
    #expect(plain.refresh == .seconds(10) && plain.url.port == 8080 && plain.url.path == "/")
    #expect(service.name.query == "_db._tcp.example" && service.refresh == nil && service.servers.count == 2)
  }

  @Test("what is found has the source's policy, probes and labels, and its own labels win")
  func assembling() throws {
    let (targets, problems) = try targets(
      "targets_from: [{ file: a.json, labels: { site: fra1, team: none }, defaults: { interval: 2s } }]",
      json: """
        [{ "targets": ["a.example:443", "192.0.2.1", "default"], "labels": { "team": "storage", "__meta_a": "b" } },
         { "targets": ["b.example."] }]
        """)
    #expect(problems == [])
    #expect(targets.map(\.target.name) == ["a.example:443", "192.0.2.1", "default", "b.example."])
    #expect(targets.allSatisfy { $0.target.policy.interval == .seconds(2) && $0.target.policy.timeout == .seconds(2) })
    let labels = targets.map { $0.target.labels.map { "\($0.name)=\($0.value)" } }
    #expect(
      labels == [
        ["site=fra1", "team=storage"], ["site=fra1", "team=storage"], ["site=fra1", "team=storage"],
        ["site=fra1", "team=none"],
      ])
    #expect(
      targets.map { $0.probes.map(\.backend).joined(separator: " ") } == [
        "link route dns tcp", "link route", "link route", "link route dns",
      ])
    #expect(targets[0].target.settings === targets[1].target.settings, "ten thousand targets stay small")
  }

  @Test("the probes of a source are those that fit each target")
  func probes() throws {
    let (targets, problems) = try targets(
      "targets_from: [{ file: a.json, defaults: { probes: [link, route, { dns: { family: ipv4 } }, tcp] } }]",
      json: #"[{ "targets": ["a.example:443", "a.example", "192.0.2.1:1", "192.0.2.1", "default"] }]"#)
    #expect(problems == [])
    #expect(
      targets.map { $0.probes.map(\.backend).joined(separator: " ") } == [
        "link route dns tcp", "link route dns", "link route tcp", "link route", "link route",
      ])
    #expect(targets[1].probes[2].options.string("family") == "ipv4")
  }

  @Test("bad targets and labels are one problem each that names the entry, and the rest stays")
  func problems() throws {
    let (targets, problems) = try targets(
      "targets_from: [{ file: a.json }]\nmetrics: { max_labels: 2 }",
      json: """
        [{ "targets": ["127.1", "http://a.example/", "ok.example"], "labels": { "reason": "x", "a-b": "y" } },
         { "targets": ["ok.example", "more.example"], "labels": { "a": "1", "b": "2", "c": "3" } }]
        """)
    #expect(targets.map(\.target.name) == ["ok.example", "more.example"])
    #expect(targets[1].target.labels.map(\.name) == ["a", "b"])
    #expect(
      problems == [
        "entry 1: the label is dropped: 'reason' is the name of a label of reachd's own metrics; rename it",
        "entry 1: the label is dropped: 'a-b' is no label's name; write letters, digits and underscores, and no digit first",
        "entry 1: '127.1' is not an IPv4 address: write four numbers, such as 192.0.2.1",
        "entry 1: 'http://a.example/' is a URL; write its host and port, such as example.com:443",
        "entry 2: there are 3 labels and 2 are allowed, so 'c' is dropped; raise 'max_labels' under 'metrics'",
        "entry 2: the target 'ok.example' is already in entry 1; remove one of them",
      ])
  }

  @Test("a configuration with sources, written with its defaults, loads to the same again, and shows no secret")
  func text() throws {
    let text = """
      targets_from:
        - { file: "t/*.yml", name: x, labels: { a: "1" }, defaults: { fall: 3, probes: [link, route, dns: { family: ipv6 }] } }
        - { http: "https://sd.example:8443/t", authorization: { type: Token, credentials_file: f } }
        - { http: "http://127.0.0.1/", basic_auth: { username: u, password_file: p } }
        - { srv: _db._tcp.example, refresh: 20s, server: 198.51.100.53 }
      """
    let configuration = try configuration(text)
    func written(_ configuration: Configuration) -> String {
      var text = ConfigurationText(configuration) { ConfigurationFiles.options(of: $0) }
      var bytes: [UInt8] = []
      while text.next(into: &bytes) {}
      return String(decoding: bytes, as: UTF8.self)
    }
    let again = ConfigurationFiles.resolve(Array(written(configuration).utf8), file: "etc/reachd.yaml")
    #expect(again.problems == [])
    #expect(again.configuration == configuration)
    let secret = try self.configuration("targets_from: [{ http: 'http://sd.example/t?role=web&key=hunter2' }]")
    #expect(!written(secret).contains("hunter2") && written(secret).contains("?role=hidden&key=hidden"))
  }

  @Test("a message about a URL or a password shows neither")
  func secrets() {
    for text in [
      "http: http://user:hunter2@sd.example/", "http: http://user:hun/ter2@sd.example/",
      "http: ftp://user:hunter2@sd.example/", "{ http: http://a/, basic_auth: { username: u, password: hunter2 } }",
      "{ http: http://a/, authorization: { credentials: hunter2 } }", "http: 'http://sd.example:x/?t=hunter2'",
    ] {
      let result = ConfigurationFiles.resolve("targets_from:\n  - \(text)\n")
      #expect(result.configuration == nil, "\(text)")
      #expect(!result.problems.contains { $0.message.contains("hunter2") || $0.message.contains("ter2") }, "\(text)")
    }
  }
}
