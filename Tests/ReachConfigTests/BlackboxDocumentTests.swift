import ReachConfig
import Testing

@Suite struct BlackboxDocumentTests {
  private func translate(_ text: String) -> BlackboxDocument.Translation {
    BlackboxDocument.translate(Array(text.utf8), file: "b.yml")
  }

  @Test("modules with the probers tcp and dns come out as modules that load, and mean the same")
  func translated() throws {
    let translation = translate(
      """
      modules:
        connect:
          prober: tcp
        "smtp: tls":
          prober: tcp
          timeout: 1m30s
          tcp:
            query_response:
              - expect: "^220 ([^ ]+) ESMTP (.+)$"
              - send: "EHLO prober\\r"
              - expect: "^250-STARTTLS"
              - starttls: true
        encrypted:
          prober: tcp
          timeout: 0s
          tcp: { tls: true, tls_config: { insecure_skip_verify: true, ca_file: /etc/ca.crt, server_name: a.example } }
        database:
          prober: tcp
          tcp:
            query_response:
            - send: !!binary AAAACATSFi8=
            - expect_bytes: S
        version:
          prober: tcp
          tcp: { query_response: [ { expect: "^v(.*)", labels: [ { name: version, value: "${1}" } ] } ] }
        lookup:
          prober: dns
          timeout: 5s
          dns:
            query_name: www.example.com
            query_type: A
            valid_rcodes:
            - NOERROR
            validate_answer_rrs:
              fail_if_not_matches_regexp:
              - "www.example.com.\\t300\\tIN\\tA\\t192.0.2.1"
              fail_if_none_matches_regexp: []
        over_tcp: { prober: dns, dns: { transport_protocol: tcp, preferred_ip_protocol: ip4, query_name: example.com, dns_over_tls: true } }
      """)
    #expect(translation.problems.isEmpty, "\(translation.problems)")
    #expect(translation.modules.map(\.timeout) == [nil, .seconds(90), nil, nil, nil, .seconds(5), nil])
    let loaded = ConfigurationFiles.resolve(translation.yaml + "targets: [default]\n")
    #expect(loaded.problems.isEmpty, "\(loaded.problems)\n\(translation.yaml)")
    #expect(loaded.configuration?.probing.modules == translation.modules)
  }

  @Test("what has no counterpart is an error where it stands, and leaves the rest")
  func problems() {
    let translation = translate(
      """
      modules:
        page: { prober: http, http: { method: POST } }
        ping:
          prober: icmp
        both: { prober: tcp, http: { method: GET } }
        secret: { prober: tcp, tcp: { tls: true, tls_config: { key: x, ca_file: ca.crt } } }
        unknown: { prober: smtp }
        none: { timeout: 5s }
        empty: { prober: dns }
        question: { prober: dns, dns: { query_type: X, query_name: a } }
        pattern: { prober: tcp, tcp: { query_response: [ { expect: ":[" } ] } }
      """)
    #expect(translation.modules.map(\.name) == ["both"], "half a module would find good what the whole does not")
    #expect(
      translation.problems.map(\.description) == [
        "b.yml:2:19: error: the module 'page' has the prober 'http', which reachd does not have; keep it with blackbox_exporter",
        "b.yml:4:13: error: the module 'ping' has the prober 'icmp', which reachd does not have; keep it with blackbox_exporter",
        "b.yml:5:24: warning: the module 'both' has the prober 'tcp', which has no use for this; it is left out",
        "b.yml:6:58: error: unknown key 'key' in 'tls_config'; known are ca_file, cert_file, key_file, server_name, insecure_skip_verify, min_version, max_version",
        "b.yml:6:75: error: ca_file: 'ca.crt' is not an absolute path; begin it with /",
        "b.yml:7:22: error: prober: 'smtp' is none of http, tcp, icmp, dns, grpc, unix, websocket; write one of them",
        "b.yml:8:3: error: the module 'none' has no 'prober'",
        "b.yml:9:3: error: the module 'empty' has no 'dns' with a 'query_name'",
        "b.yml:10:47: error: query_type: 'X' is no type of record; write one such as AAAA",
        "b.yml:11:62: error: expect: ':[' is not a regular expression (missing ]: [); write it in RE2's syntax",
      ])
    #expect(!translation.isComplete)
  }

  @Test(
    "a file that is something else is refused",
    arguments: ["", "[]", "modules: []", "targets: {}", "a: [", "modules: x"])
  func other(text: String) {
    let translation = translate(text)
    #expect(translation.modules.isEmpty)
    #expect(translation.yaml == "modules: {}\n")
  }
}
