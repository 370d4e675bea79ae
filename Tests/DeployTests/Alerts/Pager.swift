import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// All that lies between the agent and the person who is paged.
///
/// Isolation: on its event loop.
struct Pager {
  let prometheus: Prometheus
  let alertmanager: Alertmanager
  let receiver: WebhookReceiver
  private let loop: EventLoop

  /// Starts Alertmanager and then Prometheus, on the configuration for one host unless another is given. `files` are put
  /// beside it; `edit` changes Alertmanager's before it is used.
  static func start(
    _ configuration: String? = nil, files: [String: String] = [:], notificationsFaster factor: Int = 60,
    edit: (String, WebhookReceiver) -> String = { text, _ in text }, on loop: EventLoop
  ) async throws -> Pager {
    let receiver = try WebhookReceiver(on: loop)
    let alertmanager = try await Alertmanager.start(
      notifying: receiver, faster: factor, edit: { edit($0, receiver) }, on: loop)
    let text = try configuration ?? textOfFile(Prometheus.delivered + "/prometheus.yml")
    // The rules are not made as short as the rest: reachd's own second in which it looks for a shared cause stays.
    let prometheus = try await Prometheus.start(
      Prometheus.shortening(text, by: 60), rulesFaster: 10, files: files, on: loop)
    return Pager(prometheus: prometheus, alertmanager: alertmanager, receiver: receiver, loop: loop)
  }

  /// Waits until nobody has anything left to tell, and expects that Alertmanager's notifications were of these statuses, in
  /// that order.
  func expectOnly(_ statuses: [String], _ location: SourceLocation = #_sourceLocation) async throws {
    _ = try await eventually("the end of all alerts", on: loop) {
      try await prometheus.client.json("/api/v1/alerts")["data"]?["alerts"] == .array([]) ? true : nil
    }
    try await alertmanager.awaitSilence()
    let notifications = receiver.notifications.filter { $0.status != nil }
    #expect(notifications.compactMap(\.status) == statuses, "\(notifications)", sourceLocation: location)
  }
}
