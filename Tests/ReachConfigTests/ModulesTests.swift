import ReachConfig
import ReachCore
import ReachProbe
import Testing

@Suite struct ModulesTests {
  private static let text = """
    modules:
      connect: { backend: tcp, timeout: 5s }
      talk:
        backend: tcp
        preferred_ip_protocol: ip4
        ip_protocol_fallback: false
        source_ip_address: 192.0.2.1
        query_response:
          - send: !!binary AAAACATSFi8=
          - { expect_bytes: S }
          - { expect: "^220 ([^ ]+)", labels: [ { name: host, value: "${1}" } ], send: "EHLO prober\\r" }
      zone:
        backend: dns
        query_name: example.com.
        query_type: SOA
        transport_protocol: tcp
        recursion_desired: false
        valid_rcodes: [NOERROR, NXDOMAIN]
        validate_answer_rrs:
          fail_if_matches_regexp: [".*127.0.0.1"]
          fail_if_none_matches_regexp: ["a\\tb", 'c']
      way: { backend: route, timeout: 1s }
    default_module: connect
    probe_allow: [192.0.2.0/24, "*.example.com", "2001:db8::/32", localhost]
    targets: [default]
    """

  @Test("modules are read with what blackbox_exporter has where nothing is said")
  func read() throws {
    let result = ConfigurationFiles.resolve(Self.text)
    #expect(result.problems.isEmpty, "\(result.problems)")
    let probing = try #require(result.configuration).probing
    #expect(probing.modules.map(\.name) == ["connect", "talk", "zone", "way"])
    #expect(probing.modules.map(\.backend) == ["tcp", "tcp", "dns", "route"])
    #expect(
      probing.module("connect") == ConfiguredModule(name: "connect", timeout: .seconds(5), kind: .tcp(TCPModule())))
    guard case .tcp(let talk) = probing.module("talk")?.kind, case .dns(let zone) = probing.module("zone")?.kind else {
      Issue.record("\(probing.modules)")
      return
    }
    #expect(talk.addressing.preferred == .ipv4 && !talk.addressing.allowsOtherFamily)
    #expect(talk.exchange.map(\.send) == [[0, 0, 0, 8, 4, 0xd2, 0x16, 0x2f], [], Array("EHLO prober\r".utf8)])
    #expect(talk.exchange[1].expectBytes == Array("S".utf8))
    #expect(talk.exchange[2].labels == [ExchangeStep.Label(name: "host", value: "${1}")])
    #expect(zone.queryType == 6 && zone.queryClass == 1 && zone.transport == .tcp && !zone.wantsRecursion)
    #expect(zone.validCodes == [0, 3] && zone.answer.failIfNoneMatches.map(\.pattern) == ["a\tb", "c"])
    #expect(probing.defaultModule == "connect")
    #expect(probing.allow.map(\.description) == ["192.0.2.0/24", "*.example.com", "2001:db8::/32", "localhost"])
  }

  @Test("the effective configuration has the modules, and loads to the same again")
  func text() throws {
    let configuration = try #require(ConfigurationFiles.resolve(Self.text).configuration)
    var writer = ConfigurationText(configuration) { ConfigurationFiles.options(of: $0) }
    var bytes: [UInt8] = []
    while writer.next(into: &bytes) {}
    let again = ConfigurationFiles.resolve(bytes)
    #expect(again.problems.isEmpty, "\(again.problems)\n\(String(decoding: bytes, as: UTF8.self))")
    #expect(again.configuration?.probing == configuration.probing)
  }

  @Test("a name beyond ASCII is asked for in A-labels, and any octet by its escape")
  func names() throws {
    let result = ConfigurationFiles.resolve(
      """
      targets: [192.0.2.1]
      modules:
        books: { backend: dns, query_name: bücher.example }
        odd: { backend: dns, query_name: '_x\\.y.\\255.example.' }
        root: { backend: dns, query_name: . }
      """)
    let modules = try #require(result.configuration, "\(result.problems)").probing.modules
    let names = modules.map { if case .dns(let dns) = $0.kind { dns.queryName } else { "" } }
    #expect(names == ["xn--bcher-kva.example", #"_x\.y.\255.example."#, "."])
  }
}
