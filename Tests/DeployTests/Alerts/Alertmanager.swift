import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// Debian's Alertmanager on the delivered configuration, made impatient, that notifies a test.
///
/// Isolation: on its event loop.
final class Alertmanager: Sendable {
  /// deploy/alertmanager.
  static let delivered = Reachd.sources + "/deploy/alertmanager"

  /// Whether it is installed; always true where all tests are required.
  static let isAvailable = TestRequirements.areAllRequired || isInstalled

  private static var isInstalled: Bool {
    let programs = ["/usr/bin/prometheus-alertmanager", "/usr/bin/amtool"]
    return programs.allSatisfy { unsafe access($0, X_OK) == 0 }
  }

  private let process: ChildProcess
  private let client: HTTPClient
  private let folder: TestFolder

  /// Starts it, in a network namespace where its port is free, and waits until it is ready. Its webhooks are those of the
  /// receiver. `edit` may change the text of the delivered configuration before.
  static func start(
    notifying receiver: WebhookReceiver, faster factor: Int = 60, edit: (String) -> String = { $0 }, on loop: EventLoop
  ) async throws -> Alertmanager {
    let folder = try TestFolder()
    let text = edit(try textOfFile(delivered + "/alertmanager.yml"))
      .replacing("127.0.0.1:9095", with: receiver.address)
    let file = try folder.write(Prometheus.shortening(text, by: factor), to: "alertmanager.yml")
    try folder.write(try textOfFile(delivered + "/reachd.tmpl"), to: "reachd.tmpl")
    let process = try ChildProcess(
      [
        "/usr/bin/prometheus-alertmanager", "--config.file=\(file)", "--storage.path=\(folder.path)/data",
        "--web.listen-address=127.0.0.1:9093", "--cluster.listen-address=", "--log.level=warn",
      ], on: loop)
    let client = HTTPClient(address: .loopback, port: 9093, loop: loop)
    try await eventually(
      "Alertmanager", on: loop, within: .seconds(90), state: { process.failure("").description },
      {
        guard process.isRunning else { throw process.failure("ended") }
        return (try? await client.get("/-/ready"))?.status == 200 ? () : nil
      })
    return Alertmanager(process: process, client: client, folder: folder)
  }

  private init(process: ChildProcess, client: HTTPClient, folder: TestFolder) {
    self.process = process
    self.client = client
    self.folder = folder
  }

  /// Waits until there is nothing left of which it could notify anybody.
  func awaitSilence() async throws {
    _ = try await eventually("silence", on: client.loop, within: .seconds(90), state: { process.errors }) {
      try await client.json("/api/v2/alerts") == .array([]) ? true : nil
    }
  }
}
