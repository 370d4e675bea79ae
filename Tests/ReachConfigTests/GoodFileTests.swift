import ReachConfig
import ReachCore
import ReachProbe
import Testing

/// What files without errors come to.
@Suite struct GoodFileTests {
  private func load(_ name: String) -> ConfigurationResult {
    ConfigurationFiles.resolve(ConfigurationFiles.bytes("\(ConfigurationFiles.good)/\(name).yaml"), file: "F")
  }

  private func targets(_ name: String) throws -> [ConfiguredTarget] {
    let result = load(name)
    #expect(result.problems == [])
    return try #require(result.configuration).targets
  }

  @Test("the documented sample loads as it stands, and names what is not there yet")
  func documented() throws {
    let result = load("documented")
    #expect(result.problems.filter { $0.severity == .error } == [])
    let configuration = try #require(result.configuration)
    #expect(configuration.backends.map(\.name) == ["link", "route", "dns", "tcp"])
    #expect(configuration.backends.map(\.timeout) == [nil, nil, .seconds(2), .seconds(4)])
    #expect(configuration.pluginPath == ["/usr/lib/reachd/plugins"])
    #expect(configuration.defaults == TargetPolicy())
    #expect(configuration.defaultPath.map(\.description) == ["9.9.9.9", "203.0.113.1"])
    #expect(configuration.listen.map(\.description) == ["127.0.0.1:10120"])
    #expect(configuration.log.level == .info && configuration.log.format == .json)
    #expect(configuration.log.output == .standardError)
    #expect(configuration.stateDirectory == "/var/lib/reachd")
    #expect(configuration.metrics == MetricsSettings())
    let names = ["example.com:443", "192.0.2.1", "default", "db", "uplink", "lan", "modem"]
    #expect(configuration.targets.map(\.target.name) == names)
  }

  @Test("a target's own values win over those of its backend, and those over the defaults")
  func precedence() throws {
    let targets = try #require(load("documented").configuration).targets
    let db = try #require(targets.first { $0.target.name == "db" })
    #expect(db.target.kind == .host(HostName(query: "db.internal", display: "db.internal")))
    #expect(db.target.port == 5432)
    #expect(db.target.policy.interval == .seconds(2))
    #expect(db.target.policy.timeout == .seconds(2), "an inherited timeout is capped to the interval")
    #expect(db.target.labels == [Label(name: "site", value: "fra1"), Label(name: "team", value: "storage")])
    #expect(db.target.source.interface == "eth1" && db.target.source.mark == 16)
    #expect(db.target.source.address?.description == "198.51.100.7")
    #expect(db.probes.map(\.backend) == ["link", "route", "dns", "tcp"])
    #expect(db.probes.map(\.timeout) == [nil, nil, nil, .seconds(1)], "2s is as long as the round")
    #expect(db.probes[2].options.endpoints("server").map(\.address.description) == ["198.51.100.53"])
    #expect(db.probes[2].options.string("family") == "any")
    #expect(db.probes[2].options.integer("attempts") == 2, "declared by the plugin, written nowhere")
    #expect(db.probes[3].options.integer("port") == 5432)
    let web = try #require(targets.first)
    #expect(web.probes.map(\.timeout) == [nil, nil, .seconds(2), .seconds(4)])
    #expect(web.probes[3].options == OptionValues())
  }

  @Test("the kinds of targets have the probes they can use")
  func kinds() throws {
    let targets = try targets("targets")
    let expected: [(name: String, kind: String, port: UInt16?, probes: String)] = [
      ("example.com", "host", nil, "link route dns"),
      ("EXAMPLE.org.", "host", nil, "link route dns"),
      ("example.com:443", "host", 443, "link route dns tcp"),
      ("bücher.example", "host", nil, "link route dns"),
      ("_ldap._tcp.example.com", "host", nil, "link route dns"),
      ("192.0.2.1", "address", nil, "link route"),
      ("192.0.2.1:22", "address", 22, "link route tcp"),
      ("2001:DB8:0:0::1", "address", nil, "link route"),
      ("[2001:db8::1]:443", "address", 443, "link route tcp"),
      ("[2001:db8::5:80]", "address", nil, "link route"),
      ("1:2:3:4:5:6:7:8", "address", nil, "link route"),
      ("::ffff:192.0.2.9", "address", nil, "link route"),
      ("fe80::1%eth0", "address", nil, "link route"),
      ("default", "default", nil, "link route"),
      ("198.51.100.7->192.0.2.9", "pair", nil, "link route"),
      ("link_local:eth0", "link_local", nil, "link route"),
      ("interface:wwan0", "interface", nil, "link"),
      ("the-host-default", "host", nil, "link route dns"),
      ("null-default", "default", nil, "link route"),
      ("[2001:db8::7:90]:443", "address", 443, "link route tcp"),
    ]
    #expect(targets.count == expected.count)
    for (found, wanted) in zip(targets, expected) {
      #expect(found.target.name == wanted.name)
      #expect(found.target.kindName == wanted.kind, "\(wanted.name)")
      #expect(found.target.port == wanted.port, "\(wanted.name)")
      #expect(found.probes.map(\.backend).joined(separator: " ") == wanted.probes, "\(wanted.name)")
    }
    #expect(targets[1].target.kind == .host(HostName(query: "example.org", display: "example.org")))
    #expect(targets[3].target.kind == .host(HostName(query: "xn--bcher-kva.example", display: "bücher.example")))
    #expect(targets[11].target.kind == .address(IPAddress(ipv4: 0xc000_0209)), "a mapped address is the IPv4 one")
    #expect(targets[12].target.kind == .address(IPAddress(ipv6High: 0xfe80 << 48, low: 1, zone: "eth0")))
    #expect(targets[15].target.policy.statusRule == .localwifi)
    #expect(targets[16].target.policy.statusRule == .afnetworking)
  }

  @Test("merged keys count as the target's own, explicit keys win, and the first map of a list wins")
  func merges() throws {
    let targets = try targets("merges").map(\.target)
    let names = ["one", "list", "explicit", "nested", "anchored", "again"]
    #expect(targets.map(\.name) == names)
    #expect(
      targets.map(\.policy.interval) == [
        .seconds(1), .seconds(60), .seconds(2), .seconds(60), .seconds(15), .seconds(15),
      ])
    #expect(targets.map(\.policy.fall) == [5, 5, 5, 2, 2, 2])
    #expect(targets.map(\.policy.rise) == [1, 4, 1, 4, 1, 1])
    #expect(targets[3].kind == .host(HostName(query: "d.example", display: "d.example")))
    #expect(targets[5].kind == targets[4].kind)
  }

  @Test("words that older YAML takes for truths are texts, and quoted numbers are too")
  func scalars() throws {
    let targets = try targets("scalars").map(\.target)
    #expect(targets.map(\.name) == ["no", "0100", "12"])
    #expect(targets[0].kind == .host(HostName(query: "on", display: "on")))
    #expect(targets[1].port == 443)
    #expect(
      targets[1].labels.map { "\($0.name)=\($0.value)" } == [
        "NO=NO", "count=7", "empty=", "folded=two lines", "octal=0o17", "truth=true", "version_=1.10", "yes=no",
      ])
  }

  @Test("a byte order mark and the line ends of another system are accepted", arguments: ["byte-order-mark", "crlf"])
  func foreignText(name: String) throws {
    #expect(try targets(name).first?.target.kind == .defaultPath)
  }

  @Test("a file without targets is an idle agent, with a warning", arguments: ["empty", "only-comments"])
  func idle(name: String) throws {
    let result = load(name)
    #expect(
      result.problems.map(\.description) == [
        "F:1:1: warning: there are no targets, so nothing is probed; list some under 'targets'"
      ])
    #expect(try #require(result.configuration).targets == [])
    #expect(result.configuration?.listen.map(\.description) == ["127.0.0.1:10120"])
  }

  @Test("every sample that is handed out is without problems")
  func samples() {
    let folders = [ConfigurationFiles.samples, ConfigurationFiles.samples + "/examples"]
    let files = folders.flatMap { folder in
      ConfigurationFiles.names(in: folder, ending: ".yaml").map { "\(folder)/\($0).yaml" }
    }
    #expect(files.count >= 6)
    for file in files {
      let result = ConfigurationFiles.resolve(ConfigurationFiles.bytes(file), file: file)
      #expect(result.problems == [])
      #expect(result.configuration?.targets.isEmpty == false)
    }
  }
}
