import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Debian's blackbox_exporter and reachd side by side, on the same targets with the same modules: reachd's own are what
/// `reachd check --blackbox` makes of the other's file.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: BlackboxExporter.isAvailable, "needs Debian's package prometheus-blackbox-exporter"),
  .serialized, .timeLimit(.minutes(5)))
struct BlackboxComparisonTests {
  private static let modules = """
    modules:
      connect: { prober: tcp, timeout: 2s }
      connect4: { prober: tcp, timeout: 2s, tcp: { preferred_ip_protocol: ip4, ip_protocol_fallback: false } }
      connect6: { prober: tcp, timeout: 2s, tcp: { ip_protocol_fallback: false } }
      source: { prober: tcp, timeout: 2s, tcp: { source_ip_address: 127.0.0.5, preferred_ip_protocol: ip4 } }
      foreign: { prober: tcp, timeout: 2s, tcp: { source_ip_address: 192.0.2.99, preferred_ip_protocol: ip4 } }
      hasty: { prober: tcp, timeout: 300ms }
      banner: { prober: tcp, timeout: 2s, tcp: { query_response: [ { expect: "^SSH-2.0-" } ] } }
      other: { prober: tcp, timeout: 2s, tcp: { query_response: [ { expect: "^220 " } ] } }
    """

  /// A target by a module, and whether it is to succeed.
  struct Case {
    let module: String
    let target: String
    let succeeds: Bool
  }

  /// What newer versions than Debian's have beside, and what reachd alone has.
  private static let newer: Set<String> = [
    "probe_timeout_seconds", "probe_failed_due_to_bytes", "probe_expect_info", "probe_dns_reply_truncated",
    "probe_dns_query_retries",
  ]
  /// Values that no two probes share.
  private static let times: Set<String> = [
    "probe_duration_seconds", "probe_dns_lookup_time_seconds", "probe_dns_duration_seconds",
  ]

  @Test("every metric has the same name, type, labels, help and value, whatever becomes of the connection")
  func tcp() async throws {
    try await withNetworkNamespace { loop, stage in
      try stage.replaceFile("/etc/hosts", with: "127.0.0.1 four.test both.test\n::1 six.test both.test\n")
      try stage.replaceFile("/etc/resolv.conf", with: "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n")
      try stage.nft("table inet t { chain c { type filter hook input priority 0; tcp dport 7 drop; }; }")
      let open = try TestPort(.open)
      let open6 = try TestPort(.open, on: .loopback6)
      let closed = try TestPort(.closed)
      let greeter = try Greeter(on: loop)
      let (exporter, agent) = try await Self.start(on: loop)
      let cases = [
        Case(module: "connect", target: "127.0.0.1:\(open.number)", succeeds: true),
        Case(module: "connect", target: "[::1]:\(open6.number)", succeeds: true),
        Case(module: "connect", target: "127.0.0.1:\(closed.number)", succeeds: false),
        Case(module: "hasty", target: "127.0.0.1:7", succeeds: false),
        Case(module: "connect", target: "127.0.0.1", succeeds: false),
        Case(module: "connect", target: "four.test:\(open.number)", succeeds: true),
        Case(module: "connect", target: "both.test:\(open6.number)", succeeds: true),
        Case(module: "connect4", target: "both.test:\(open.number)", succeeds: true),
        Case(module: "connect4", target: "six.test:\(open6.number)", succeeds: false),
        Case(module: "connect6", target: "127.0.0.1:\(open.number)", succeeds: false),
        Case(module: "hasty", target: "nowhere.test:80", succeeds: false),
        Case(module: "source", target: "127.0.0.1:\(open.number)", succeeds: true),
        Case(module: "foreign", target: "127.0.0.1:\(open.number)", succeeds: false),
        Case(module: "connect", target: "203.0.113.9:80", succeeds: false),
        Case(module: "banner", target: greeter.target, succeeds: true),
        Case(module: "other", target: greeter.target, succeeds: false),
      ]
      for one in cases { try await Self.compare(one, exporter.client, agent.client) }
      withExtendedLifetime((open, open6, closed)) {}
    }
  }

  @Test(
    "Debian's Prometheus takes reachd for blackbox_exporter once a scrape job names its port",
    .enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"))
  func scrapeJob() async throws {
    try await withNetworkNamespace { loop, _ in
      let open = try TestPort(.open)
      let closed = try TestPort(.closed)
      let agent = try await RunningAgent.start(
        """
        targets: [127.0.0.1]
        probe_allow: [127.0.0.0/8]
        modules: { tcp_connect: { backend: tcp } }
        """, port: 10120, on: loop)
      let prometheus = try await Prometheus.start(
        """
        global: { scrape_interval: 250ms, scrape_timeout: 250ms }
        scrape_configs:
          - job_name: blackbox
            metrics_path: /probe
            params: { module: [tcp_connect] }
            static_configs: [ { targets: [ "127.0.0.1:\(open.number)", "127.0.0.1:\(closed.number)", "192.0.2.1:80" ] } ]
            relabel_configs:
              - { source_labels: [__address__], target_label: __param_target }
              - { source_labels: [__param_target], target_label: instance }
              - { target_label: __address__, replacement: "127.0.0.1:10120" }

        """, on: loop)
      for (port, value) in [(open.number, "1"), (closed.number, "0")] {
        let success = try await prometheus.awaitResult(
          of: "probe_success{instance=\"127.0.0.1:\(port)\",job=\"blackbox\"}"
        ) { $0["value"]?[1]?.text == value }
        #expect(success["metric"]?["job"] == .string("blackbox"))
      }
      // What is not allowed is a scrape that fails, and no probe.
      _ = try await prometheus.awaitResult(of: "up{instance=\"192.0.2.1:80\"}") { $0["value"]?[1]?.text == "0" }
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("TLS, from the beginning and by STARTTLS, is the same with every certificate that is good or bad")
  func tls() async throws {
    try await withNetworkNamespace { loop, stage in
      try stage.replaceFile("/etc/hosts", with: "127.0.0.1 good.test other.test\n")
      let folder = try TestFolder()
      let server = try await TLSServer.start(in: folder, on: loop)
      let starter = try StartTLSServer(forwardingTo: TLSServer.port, on: loop)
      let authority = "tls_config: { ca_file: \(folder.path)/ca.crt"
      let upgrade = "query_response: [ { expect: \"^220\" }, { send: STARTTLS }, { expect: go }, { starttls: true } ]"
      let modules = """
        modules:
          trusting: { prober: tcp, timeout: 5s, tcp: { preferred_ip_protocol: ip4, tls: true, \(authority) } } }
          system: { prober: tcp, timeout: 5s, tcp: { preferred_ip_protocol: ip4, tls: true } }
          insecure: { prober: tcp, timeout: 5s, tcp: { tls: true, tls_config: { insecure_skip_verify: true } } }
          named: { prober: tcp, timeout: 5s, tcp: { tls: true, \(authority), server_name: good.test } } }
          upgrade: { prober: tcp, timeout: 5s, tcp: { \(upgrade), \(authority) } } }
        """
      let (exporter, agent) = try await Self.start(modules, on: loop)
      let port = TLSServer.port
      for one in [
        Case(module: "trusting", target: "good.test:\(port)", succeeds: true),
        Case(module: "trusting", target: "other.test:\(port)", succeeds: false),
        Case(module: "system", target: "good.test:\(port)", succeeds: false),
        Case(module: "insecure", target: "127.0.0.1:\(port)", succeeds: true),
        Case(module: "named", target: "127.0.0.1:\(port)", succeeds: true),
        Case(module: "upgrade", target: "good.test:\(starter.port.number)", succeeds: true),
        Case(module: "upgrade", target: "other.test:\(starter.port.number)", succeeds: false),
      ] {
        try await Self.compare(one, exporter.client, agent.client)
      }
      withExtendedLifetime((server, starter)) {}
    }
  }

  /// Starts both, reachd with what it makes of the modules of the other.
  static func start(
    _ modules: String = Self.modules, on loop: EventLoop
  ) async throws -> (BlackboxExporter, RunningAgent) {
    let exporter = try await BlackboxExporter.start(modules, on: loop)
    let translated = try await Reachd.run(["check", "--blackbox", exporter.file], on: loop)
    try #require(translated.status == 0, "\(translated.errors)")
    let agent = try await RunningAgent.start(
      "targets: [127.0.0.1]\nprobe_allow: [\"*\", 127.0.0.0/8, \"::1\"]\n" + translated.output, on: loop)
    return (exporter, agent)
  }

  /// A sample as Debian's version has it: the certificate's number is newer.
  private static func older(_ sample: ExpositionText.Sample) -> ExpositionText.Sample {
    ExpositionText.Sample(
      name: sample.name, labels: sample.labels.filter { $0.key != "serialnumber" }, value: sample.value)
  }

  /// Has both probe, and compares all that they say but times.
  static func compare(_ one: Case, _ exporter: HTTPClient, _ agent: HTTPClient) async throws {
    let query = "/probe?module=\(one.module)&target=\(percentEncoded(one.target))"
    let theirs = try await exporter.get(query)
    let ours = try await agent.get(query)
    let about: Comment = "\(one.module) \(one.target)\n\(theirs.body)\n\(ours.body)"
    #expect(theirs.status == 200 && ours.status == 200, about)
    #expect(theirs.headers["content-type"] == ours.headers["content-type"], about)
    func comments(_ text: String) -> [String] {
      text.split(separator: "\n").filter { $0.hasPrefix("#") }.map(String.init)
        .filter { line in !newer.contains { line.split(separator: " ").contains(Substring($0)) } }
    }
    #expect(comments(theirs.body) == comments(ours.body), about)
    let their = try ExpositionText(parsing: theirs.body).samples
    let our = try ExpositionText(parsing: ours.body).samples.filter { !newer.contains($0.name) }.map(older)
    #expect(their.map(\.name) == our.map(\.name), about)
    #expect(their.map(\.labels) == our.map(\.labels), about)
    for (their, our) in zip(their, our) where !times.contains(their.name) {
      #expect(their.value == our.value, "\(their.name): \(about)")
    }
    #expect(our.first { $0.name == "probe_success" }?.value == (one.succeeds ? 1 : 0), about)
  }
}

/// Debian's blackbox_exporter.
///
/// Isolation: on its event loop.
final class BlackboxExporter: Sendable {
  private static let program = "/usr/bin/prometheus-blackbox-exporter"
  /// Whether it is installed; always true where all tests are required.
  static let isAvailable = TestRequirements.areAllRequired || (unsafe access(program, X_OK)) == 0

  /// Its configuration.
  let file: String
  let client: HTTPClient
  private let process: ChildProcess
  private let folder: TestFolder

  /// Starts it, in a network namespace where its port is free, and waits until it answers.
  static func start(_ configuration: String, on loop: EventLoop) async throws -> BlackboxExporter {
    let folder = try TestFolder()
    let file = try folder.write(configuration, to: "blackbox.yml")
    let process = try ChildProcess(
      [program, "--config.file=\(file)", "--web.listen-address=127.0.0.1:9115", "--log.level=error"], on: loop)
    let client = HTTPClient(address: .loopback, port: 9115, loop: loop)
    try await eventually(
      "blackbox_exporter", on: loop, within: .seconds(60), state: { process.failure("").description },
      {
        guard process.isRunning else { throw process.failure("ended") }
        return (try? await client.get("/-/healthy"))?.status == 200 ? () : nil
      })
    return BlackboxExporter(file: file, client: client, process: process, folder: folder)
  }

  private init(file: String, client: HTTPClient, process: ChildProcess, folder: TestFolder) {
    self.file = file
    self.client = client
    self.process = process
    self.folder = folder
  }
}

/// A server that greets everybody like an SSH server and then hangs up.
///
/// Isolation: on its event loop.
struct Greeter {
  private let port: TestPort
  var target: String { "127.0.0.1:\(port.number)" }

  init(on loop: EventLoop) throws {
    let port = try TestPort(.open)
    self.port = port
    loop.spawn {
      while !Task.isCancelled {
        while let connection = try? port.accept() {
          _ = try? Socket(number: connection.number).send(Array("SSH-2.0-test one\r\n".utf8))
        }
        guard let outcome = try? await loop.wait(on: port.descriptor, for: .readable, until: .distantFuture) else {
          return
        }
        if outcome == .cancelled { return }
      }
    }
  }
}
