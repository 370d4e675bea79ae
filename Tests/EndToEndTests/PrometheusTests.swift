import Glibc
import ReachIO
import ReachTestSupport
import Testing

/// Debian's own Prometheus scrapes the running agent, and alerts by the rules that are delivered with it.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"), .timeLimit(.minutes(5)))
struct PrometheusTests {
  @Test("the delivered files are valid")
  func files() throws {
    let rules = try runProgram(["promtool", "check", "rules", Prometheus.delivered + "/reachd.rules.yml"])
    #expect(rules.isSuccess, "\(rules.output)")
    let config = try runProgram(["promtool", "check", "config", Prometheus.delivered + "/prometheus.yml"])
    #expect(config.isSuccess, "\(config.output)")
  }

  @Test("a link that is cut makes the delivered rule fire with layer and reason, and its return ends that")
  func alert() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      // The port of the delivered configuration is free in here.
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 500ms, timeout: 400ms }
        targets:
          - default
          - 127.0.0.1
          - { name: gateway, address: \(StageAddress.gateway), labels: { site: fra1 } }
          - { name: uplink, interface: veth0 }
        """, port: 10120, on: loop)
      try await agent.awaitReady()
      let exposition = try await agent.client.get("/metrics").body
      let verdict = try runProgram(["promtool", "check", "metrics"], input: exposition)
      #expect(verdict.isSuccess, "\(verdict.output)")

      let prometheus = try await Prometheus.start(on: loop)
      let up = try await prometheus.awaitResult(
        of: "reachability_status{target=\"gateway\",status=\"ReachableViaWiFi\"}"
      ) { $0["value"]?[1]?.text == "1" }
      #expect(up["metric"]?["site"] == .string("fra1"))
      #expect(up["metric"]?["job"] == .string("reachd"))
      _ = try await prometheus.awaitRule("ReachdTargetNotReachable", state: "inactive")

      try gateway.ip("link set veth1 down")
      let alerts = try await prometheus.awaitRule("ReachdTargetNotReachable", state: "firing") { alerts in
        ["gateway", "uplink"].allSatisfy { name in
          alerts.contains { $0["labels"]?["target"]?.text == name && $0["state"]?.text == "firing" }
        }
      }
      for name in ["gateway", "uplink"] {
        let alert = alerts.first { $0["labels"]?["target"]?.text == name }
        #expect(alert?["labels"]?["layer"] == .string("link"))
        #expect(alert?["labels"]?["reason"] == .string("carrier_lost"))
        #expect(alert?["annotations"]?["summary"]?.text?.contains("carrier_lost") == true)
      }
      #expect(!alerts.contains { $0["labels"]?["target"]?.text == "127.0.0.1" })
      let changed = try await agent.awaitLine("status_changed", target: "gateway")
      Self.check(changed)

      try gateway.ip("link set veth1 up")
      _ = try await prometheus.awaitRule("ReachdTargetNotReachable", state: "inactive")
      let transitions = try await prometheus.awaitResult(
        of: "reachability_transitions_total{target=\"gateway\",to=\"ReachableViaWiFi\"}"
      ) { $0["value"]?[1]?.text == "1" }
      #expect(transitions["metric"]?["target"] == .string("gateway"))
      #expect(try await agent.stop() == 0)
      // The agent gone is an alert of its own; that it waits shows that the scrape fails.
      _ = try await prometheus.awaitRule("ReachdAbsent", state: "pending")
    }
  }

  /// The line that the cut link makes.
  private static func check(_ line: JSON) {
    #expect(
      line.names == [
        "time", "level", "event", "message", "target", "from", "to", "flags", "flags_value", "layer", "reason",
        "interface", "medium", "address", "sequence", "in_previous_seconds", "labels", "cause_id",
      ])
    #expect(line["level"] == .string("warning"))
    #expect(line["from"] == .string("ReachableViaWiFi"))
    #expect(line["to"] == .string("NotReachable"))
    #expect(line["flags"] == .string("-- -------"))
    #expect(line["flags_value"] == .number(0))
    #expect(line["layer"] == .string("link"))
    #expect(line["reason"] == .string("carrier_lost"))
    #expect(line["interface"] == .string("veth0"))
    #expect(line["medium"] == .string("wired"))
    #expect((line["sequence"]?.number ?? 0) > 0)
    #expect((line["in_previous_seconds"]?.number ?? -1) >= 0)
    #expect(line["labels"]?["site"] == .string("fra1"))
  }
}

/// Prometheus on the delivered configuration, made impatient.
///
/// Isolation: on its event loop.
final class Prometheus: Sendable {
  /// deploy/prometheus.
  static let delivered = Reachd.sources + "/deploy/prometheus"

  /// Whether it is installed; always true where all tests are required.
  static let isAvailable = TestRequirements.areAllRequired || isInstalled

  private static var isInstalled: Bool {
    let programs = ["/usr/bin/prometheus", "/usr/bin/promtool"]
    return programs.allSatisfy { unsafe access($0, X_OK) == 0 }
  }

  private let process: ChildProcess
  let client: HTTPClient
  private let folder: TestFolder
  private let loop: EventLoop

  /// Starts it, in a network namespace where its port is free, and waits until it is ready.
  static func start(enabling features: [String] = [], on loop: EventLoop) async throws -> Prometheus {
    let configuration = replacing("15s", by: "250ms", in: try textOfFile(delivered + "/prometheus.yml"))
    return try await start(configuration, enabling: features, on: loop)
  }

  /// Starts it on a configuration of the test's own.
  static func start(
    _ configuration: String, enabling features: [String] = [], on loop: EventLoop
  ) async throws -> Prometheus {
    let folder = try TestFolder()
    try folder.write(try textOfFile(delivered + "/reachd.rules.yml"), to: "reachd.rules.yml")
    let file = try folder.write(configuration, to: "prometheus.yml")
    let process = try ChildProcess(
      [
        "/usr/bin/prometheus", "--config.file=\(file)", "--storage.tsdb.path=\(folder.path)/data",
        "--web.listen-address=127.0.0.1:9090", "--log.level=warn",
      ] + (features.isEmpty ? [] : ["--enable-feature=" + features.joined(separator: ",")]), on: loop)
    let client = HTTPClient(address: .loopback, port: 9090, loop: loop)
    try await eventually(
      "Prometheus", on: loop, within: .seconds(90), state: { process.failure("").description },
      {
        guard process.isRunning else { throw process.failure("ended") }
        return (try? await client.get("/-/ready"))?.status == 200 ? () : nil
      })
    return Prometheus(process: process, client: client, folder: folder, loop: loop)
  }

  private init(process: ChildProcess, client: HTTPClient, folder: TestFolder, loop: EventLoop) {
    self.process = process
    self.client = client
    self.folder = folder
    self.loop = loop
  }

  /// Waits until what a page of the API tells has something that suits.
  func awaitData<Found>(_ page: String, _ find: (JSON) -> Found?) async throws -> Found {
    try await eventually(page, on: loop, within: .seconds(60), state: { process.errors }) {
      try await client.json(page)["data"].flatMap(find)
    }
  }

  /// Waits until a query has a result that suits.
  func awaitResult(of query: String, where condition: (JSON) -> Bool) async throws -> JSON {
    try await eventually(query, on: loop, within: .seconds(60), state: { process.errors }) {
      let answer = try await client.json("/api/v1/query?query=" + percentEncoded(query))
      return answer["data"]?["result"]?.elements.first(where: condition)
    }
  }

  /// Waits until a rule is in that state, with alerts that suit, and returns these.
  func awaitRule(
    _ name: String, state: String, where condition: ([JSON]) -> Bool = { _ in true }
  ) async throws -> [JSON] {
    try await eventually("\(name) to be \(state)", on: loop, within: .seconds(60), state: { process.errors }) {
      let rules = try await client.json("/api/v1/rules")["data"]?["groups"]?.elements.flatMap {
        $0["rules"]?.elements ?? []
      }
      let rule = rules?.first { $0["name"]?.text == name && $0["evaluationTime"]?.number != 0 }
      let alerts = rule?["alerts"]?.elements ?? []
      return rule?["state"]?.text == state && condition(alerts) ? alerts : nil
    }
  }

  private static func replacing(_ old: String, by new: String, in text: String) -> String {
    text.split(separator: old, omittingEmptySubsequences: false).joined(separator: new)
  }
}
