import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Debian's blackbox_exporter and reachd side by side, asking the same name servers with the same `dns` modules.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: BlackboxExporter.isAvailable, "needs Debian's package prometheus-blackbox-exporter"),
  .serialized, .timeLimit(.minutes(5)))
struct BlackboxDNSComparisonTests {
  /// One record of each type that a server gives out when it is asked, at the name `r` with the type's name behind it.
  private static let records = [
    "A 192.0.2.1", "AAAA 2001:db8::1:0:0:1", "CNAME NS.reachd.test.", #"PTR a\.b\ c\@d\;e.reachd.test."#,
    #"HINFO "PC \"x\"" "Lin\\ux \200""#, "MINFO a.reachd.test. b.reachd.test.", "MX 10 mail.example.com.",
    #"TXT "plain" "with \"quotes\"" "\001\127\255""#, "RP a.reachd.test. b.reachd.test.", "AFSDB 1 a.reachd.test.",
    "X25 \"311061700956\"", "RT 5 a.reachd.test.", "PX 10 a.reachd.test. b.reachd.test.",
    "LOC 42 21 54.123 N 71 06 18 W -24.5m 30m 10000m 2m", "SRV 0 5 5060 sip.reachd.test.",
    #"NAPTR 100 50 "s" "http+I2L+I2C" "!^.*\\.x$!\"q\"!" _http._tcp.reachd.test."#, "KX 10 a.reachd.test.",
    "CERT PGP 0 0 AQIDBAU=",
    "DS 60485 5 1 2BB183AF5F22588179A53B0A98631FAD1A292118",
    "SSHFP 2 1 123456789abcdef67890123456789abcdef67890",
    "RRSIG A 5 3 86400 20300322173103 20260220173103 2642 reachd.test. oJB1W6WNGv+ldvQ3WDG0MQkg5IEhjRip8WTr",
    "NSEC host.reachd.test. A MX RRSIG NSEC TYPE1234", "DNSKEY 256 3 5 AQPSKmynfzW4kyBv015MUG2DeIQ3Cbl+BBZH4b/0PY1k",
    "DHCID AAIBY2/AuCccgoJbsaxcQc9TUapptP69lOjxfNuVAA2kjEA=",
    "NSEC3PARAM 1 0 12 aabbccdd",
    "TLSA 3 1 1 0C72AC70B745AC19998811B131D662C9AC69DBDBE7CB23E5B514B56664C5D3D6", "OPENPGPKEY AQIDBA==",
    "CSYNC 66 3 A NS AAAA", #"SVCB 1 svc.reachd.test. alpn="h2,h3" port=8443 ipv4hint=192.0.2.1 ipv6hint=2001:db8::1"#,
    "HTTPS 0 alias.reachd.test.", "SPF \"v=spf1 -all\"", "NID 10 0014:4fff:ff20:ee64", "L32 10 10.1.2.0",
    "L64 10 2001:0DB8:1140:1000", "LP 10 l64.reachd.test.", "EUI48 00-00-5e-00-53-2a", "EUI64 00-00-5e-ef-10-00-00-2a",
    #"URI 10 1 "ftp://ftp.example.com/pub\"lic""#, #"CAA 0 issue "ca.example.net; policy=ev""#,
  ]

  private static let zone = """
    $ORIGIN reachd.test.
    $TTL 300
    @ IN SOA ns.reachd.test. host\\.master.reachd.test. 2026113001 7200 3600 1209600 3600
    @ IN NS ns.reachd.test.
    ns IN A 127.0.0.1
    ns IN AAAA ::1
    two IN A 192.0.2.1
    two IN A 192.0.2.2

    """ + records.map { "r\($0.prefix { $0 != " " }) IN \($0)\n" }.joined()

  /// Modules by name, each with what stands in its `dns:`, and whether the server succeeds by it.
  private static let modules: KeyValuePairs<String, (dns: String, succeeds: Bool)> = [
    "any": ("query_name: ns.reachd.test", true),
    "soa": ("query_name: reachd.test, query_type: SOA", true),
    "serial_of_none": ("query_name: ns.reachd.test, query_type: SOA", true),
    "nxdomain": ("query_name: no.reachd.test, query_type: A", false),
    "wants_nxdomain": ("query_name: no.reachd.test, query_type: A, valid_rcodes: [NXDOMAIN, SERVFAIL]", true),
    "foreign_zone": ("query_name: example.org, query_type: A", false),
    "servfail": ("query_name: www.broken.test, query_type: A", false),
    "wants_servfail": ("query_name: www.broken.test, query_type: A, valid_rcodes: [SERVFAIL]", true),
    "wants_refused": ("query_name: example.org, query_type: A, valid_rcodes: [REFUSED]", true),
    "chaos": ("query_name: version.server, query_type: TXT, query_class: CH", true),
    "tcp": ("query_name: two.reachd.test, query_type: A, transport_protocol: tcp", true),
    "iterative": ("query_name: two.reachd.test, query_type: A, recursion_desired: false", true),
    "source": ("query_name: two.reachd.test, query_type: A, source_ip_address: 127.0.0.5", true),
    "foreign_source": ("query_name: two.reachd.test, query_type: A, source_ip_address: 192.0.2.99", false),
    "matches": (rule("answer", "fail_if_matches_regexp: ['192.0.2.3', '\\tAAAA\\t']"), true),
    "matches_fails": (rule("answer", "fail_if_matches_regexp: ['192.0.2.3', '192.0.2.2$']"), false),
    "all": (rule("answer", "fail_if_all_match_regexp: ['^two', '\\tA\\t']"), true),
    "all_fails": (rule("answer", "fail_if_all_match_regexp: ['^two', '2$']"), false),
    "all_of_none": (rule("answer", "fail_if_all_match_regexp: ['x']", name: "ns.reachd.test", type: "MX"), true),
    "not": (rule("answer", "fail_if_not_matches_regexp: ['^two.reachd.test.\\t300\\tIN\\tA\\t192\\.0\\.2\\.']"), true),
    "not_fails": (rule("answer", "fail_if_not_matches_regexp: ['1$']"), false),
    "not_of_none": (rule("answer", "fail_if_not_matches_regexp: ['.']", name: "ns.reachd.test", type: "MX"), false),
    "none": (rule("answer", "fail_if_none_matches_regexp: ['9$', '2$']"), true),
    "none_fails": (rule("answer", "fail_if_none_matches_regexp: ['9$']"), false),
    "none_of_none": (
      rule("additional", "fail_if_none_matches_regexp: ['.']", name: "ns.reachd.test", type: "MX"), false
    ),
    "authority": (rule("authority", "fail_if_not_matches_regexp: ['\\tNS\\tns\\.reachd\\.test\\.$']"), true),
    "authority_fails": (rule("authority", "fail_if_matches_regexp: ['\\tNS\\t']"), false),
    "additional": (rule("additional", "fail_if_none_matches_regexp: ['127.0.0.1']"), true),
  ]

  private static func rule(_ section: String, _ rule: String, name: String = "two.reachd.test", type: String = "A")
    -> String
  {
    "query_name: \(name), query_type: \(type), validate_\(section)_rrs: { \(rule) }"
  }

  private static func configuration() -> String {
    var text = "modules:\n"
    for (name, module) in modules {
      text += "  \(name): { prober: dns, timeout: 5s, dns: { preferred_ip_protocol: ip4, \(module.dns) } }\n"
    }
    for record in records {
      let type = record.prefix { $0 != " " }
      text +=
        "  text_\(type): { prober: dns, timeout: 5s, dns: { transport_protocol: tcp, query_name: r\(type).reachd.test, "
      text += "query_type: \(type) } }\n"
    }
    for transport in ["udp", "tcp"] {
      text += "  hasty_\(transport): { prober: dns, timeout: 300ms, dns: { query_name: reachd.test, query_type: SOA, "
      text += "transport_protocol: \(transport) } }\n"
    }
    return text
  }

  @Test("every metric has the same name, type, labels, help and value, whatever becomes of the query")
  func metrics() async throws {
    try await withNetworkNamespace { loop, stage in
      try stage.replaceFile("/etc/hosts", with: "127.0.0.1 four.test both.test\n::1 six.test both.test\n")
      try stage.replaceFile("/etc/resolv.conf", with: "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
      try stage.nft(
        "table inet t { chain c { type filter hook input priority 0; udp dport 7 drop; tcp dport 7 drop; }; }")
      let (server, exporter, agent) = try await Self.start(on: loop, stage)
      var cases: [BlackboxComparisonTests.Case] = Self.modules.map { name, module in
        .init(module: name, target: "127.0.0.1:53", succeeds: module.succeeds)
      }
      cases += [
        .init(module: "tcp", target: "127.0.0.1", succeeds: true),
        .init(module: "any", target: "four.test", succeeds: true),
        .init(module: "text_A", target: "both.test", succeeds: true),
        .init(module: "text_A", target: "[::1]:53", succeeds: true),
      ]
      // Nobody serves the port; what is sent there vanishes; the name is none; there is no way.
      for target in ["127.0.0.1:9", "127.0.0.1:7", "nowhere.test", "203.0.113.9"] {
        cases += ["udp", "tcp"].map { .init(module: "hasty_\($0)", target: target, succeeds: false) }
      }
      for one in cases { try await BlackboxComparisonTests.compare(one, exporter.client, agent.client) }
      withExtendedLifetime(server) {}
    }
  }

  @Test("records of every type read the same, so that the same expressions match")
  func texts() async throws {
    try await withNetworkNamespace { loop, stage in
      let (server, exporter, agent) = try await Self.start(on: loop, stage)
      for record in Self.records {
        let query = "/probe?debug=true&target=127.0.0.1&module=text_\(record.prefix { $0 != " " })"
        let theirs = Self.records(in: try await exporter.client.get(query).body)
        let ours = Self.records(in: try await agent.client.get(query).body)
        #expect(!theirs.isEmpty && theirs == ours, "\(record)")
      }
      withExtendedLifetime(server) {}
    }
  }

  @Test("a query over TLS comes to the same with a certificate that is good, another's, or not trusted")
  func tls() async throws {
    try await withNetworkNamespace { loop, stage in
      try stage.replaceFile("/etc/hosts", with: "127.0.0.1 good.test other.test\n")
      let folder = try TestFolder()
      let certificates = try await TLSServer.start(in: folder, on: loop)
      let query = "preferred_ip_protocol: ip4, query_name: reachd.test, query_type: SOA"
      let secure = "dns: { transport_protocol: tcp, dns_over_tls: true, \(query)"
      let trusted = "ca_file: \(folder.path)/ca.crt"
      let modules = """
        modules:
          soa: { prober: dns, timeout: 5s, dns: { \(query) } }
          trusting: { prober: dns, timeout: 5s, \(secure), tls_config: { \(trusted) } } }
          system: { prober: dns, timeout: 5s, \(secure) } }
          insecure: { prober: dns, timeout: 5s, \(secure), tls_config: { insecure_skip_verify: true } } }
          named: { prober: dns, timeout: 5s, \(secure), tls_config: { \(trusted), server_name: good.test } } }
        """
      let (server, exporter, agent) = try await Self.start(modules, on: loop, stage, certifiedBy: folder)
      let cases: [BlackboxComparisonTests.Case] = [
        .init(module: "trusting", target: "good.test", succeeds: true),
        .init(module: "trusting", target: "good.test:853", succeeds: true),
        .init(module: "trusting", target: "other.test", succeeds: false),
        .init(module: "trusting", target: "127.0.0.1", succeeds: false),
        .init(module: "trusting", target: "good.test:53", succeeds: false),
        .init(module: "system", target: "good.test", succeeds: false),
        .init(module: "insecure", target: "other.test", succeeds: true),
        .init(module: "named", target: "127.0.0.1", succeeds: true),
      ]
      for one in cases { try await BlackboxComparisonTests.compare(one, exporter.client, agent.client) }
      withExtendedLifetime((server, certificates)) {}
    }
  }

  private static func start(
    _ modules: String = Self.configuration(), on loop: EventLoop, _ stage: NetworkStage,
    certifiedBy certificates: TestFolder? = nil
  ) async throws -> (NameServer, BlackboxExporter, RunningAgent) {
    let server = try NameServer(
      zone: zone, at: "127.0.0.1", "::1", certifiedBy: certificates, in: stage.host, on: loop)
    let (exporter, agent) = try await BlackboxComparisonTests.start(modules, on: loop)
    try await eventually("an answer of the name server", on: loop) {
      let answer = try await exporter.client.get("/probe?target=127.0.0.1&module=soa")
      return try ExpositionText(parsing: answer.body).value("probe_success") == 1 ? () : nil
    }
    return (server, exporter, agent)
  }

  /// The records that a page for debugging tells of.
  private static func records(in page: String) -> [Substring] {
    page.split(separator: "\n").compactMap { line in
      let parts = line.split(separator: " msg=\"Validating RR\" rr=", maxSplits: 1)
      return parts.count == 2 ? parts[1] : nil
    }
  }
}
