import Glibc
import ReachIO
import ReachTestSupport

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
    let configuration = shortening(try textOfFile(delivered + "/prometheus.yml"), by: 60)
    return try await start(configuration, enabling: features, on: loop)
  }

  /// Starts it on a configuration of the test's own, and the delivered rules with durations that are shorter by a factor.
  /// `files` are put beside the configuration, in folders of one level at most.
  static func start(
    _ configuration: String, enabling features: [String] = [], rulesFaster factor: Int = 60,
    files: [String: String] = [:], on loop: EventLoop
  ) async throws -> Prometheus {
    let folder = try TestFolder()
    let rules = try textOfFile(delivered + "/reachd.rules.yml")
    try folder.write(shortening(rules, by: factor), to: "reachd.rules.yml")
    for (name, text) in files {
      if let end = name.firstIndex(of: "/") { try folder.makeFolder(String(name[..<end])) }
      try folder.write(text, to: name)
    }
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

  /// A configuration or rules in which each duration, such as `15s` or `1h`, is shorter by that factor.
  static func shortening(_ text: String, by factor: Int) -> String {
    let units: [Substring: Int] = ["s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000]
    return text.replacing(/\b(\d+)([smhd])\b/.wordBoundaryKind(.simple)) { match in
      let milliseconds = (Int(match.output.1) ?? 0) * (units[match.output.2] ?? 0)
      return "\(milliseconds / factor)ms"
    }
  }
}
