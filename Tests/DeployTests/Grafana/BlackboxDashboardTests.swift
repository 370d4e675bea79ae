import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What docs/dashboards.md says of the metrics that dashboards for blackbox_exporter ask for.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"), .timeLimit(.minutes(2)))
struct BlackboxDashboardTests {
  /// A row of the page: a metric, what `/probe` has of it, and what is native.
  private static func rows() throws -> [[String]] {
    try Repository.text("docs/dashboards.md").split(separator: "\n").filter { $0.hasPrefix("| `probe_") }.map { line in
      line.split(separator: "|").map { String($0).trimmed }.filter { !$0.isEmpty }
    }
  }

  private static let zone = """
    $ORIGIN reachd.test.
    @ 300 IN SOA ns hostmaster 1 3600 600 86400 60
    @ 300 IN NS ns
    ns 300 IN A 127.0.0.1

    """

  private static func name(_ cell: String) -> String { cell.filter { $0 != "`" } }

  @Test("what the page says is the same is served by /probe, and what it says is not is not")
  func served() async throws {
    let rows = try Self.rows()
    try #require(rows.count > 20 && rows.allSatisfy { $0.count == 3 })
    try await withNetworkNamespace { loop, stage in
      let folder = try TestFolder()
      let tls = try await TLSServer.start(in: folder, on: loop)
      let names = try NameServer(zone: Self.zone, at: "127.0.0.1", in: stage.host, on: loop)
      let port = try TestPort(.open)
      let agent = try await RunningAgent.start(
        """
        targets: [ 127.0.0.1 ]
        probe_allow: [ 127.0.0.0/8 ]
        modules:
          connect: { backend: tcp }
          tls: { backend: tcp, tls: true, tls_config: { ca_file: \(folder.path)/ca.crt, server_name: good.test } }
          talk:
            backend: tcp
            tls: true
            tls_config: { insecure_skip_verify: true }
            query_response:
              - { send: "dlrow" }
              - { expect: "^(world)$", labels: [ { name: word, value: "${1}" } ] }
          zone: { backend: dns, query_name: reachd.test, query_type: SOA }
        """, on: loop)
      var served: Set<String> = []
      for (module, target) in [
        ("connect", "127.0.0.1:\(port.number)"), ("tls", "127.0.0.1:\(TLSServer.port)"),
        ("talk", "127.0.0.1:\(TLSServer.port)"), ("zone", "127.0.0.1"),
      ] {
        // The name server may still be on its way.
        let answer = try await eventually(module, on: loop) { () -> ExpositionText? in
          let answer = try await agent.client.get("/probe?module=\(module)&target=\(target)")
          let metrics = try ExpositionText(parsing: answer.body)
          return metrics.value("probe_success") == 1 ? metrics : nil
        }
        served.formUnion(answer.samples.map(\.name))
      }
      for row in rows {
        let isSame = row[1].hasPrefix("the same")
        #expect(isSame || row[1] == "none", "\(row)")
        #expect(served.contains(Self.name(row[0])) == isSame, "\(row)")
      }
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((tls, names, port)) {}
    }
  }

  @Test("every metric of /probe that blackbox_exporter has as well is on the page")
  func complete() throws {
    let mapped = try Set(Self.rows().map { Self.name($0[0]) })
    let lines = try Repository.text("docs/blackbox.md").split(separator: "\n").filter { $0.hasPrefix("| `probe_") }
    #expect(!lines.isEmpty)
    for line in lines where !line.contains("not of blackbox_exporter") {
      let name = line.split(separator: "`")[1]
      #expect(mapped.contains(String(name)), "\(name)")
    }
  }
}

extension String {
  fileprivate var trimmed: String { String(drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
}
