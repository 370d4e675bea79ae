import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// A server that takes whatever is posted to it and says yes: in the place of a pager.
///
/// Isolation: on its event loop.
final class WebhookReceiver: Sendable {
  /// What was posted, and when.
  struct Notification: Sendable {
    let path: String
    let body: JSON
    let time: Instant

    /// Of Alertmanager's own form: `firing` or `resolved`.
    var status: String? { body["status"]?.text }
    var alerts: [JSON] { body["alerts"]?.elements ?? [] }
    /// The names of its alerts, each once, in order.
    var names: [String] { Set(alerts.compactMap { $0["labels"]?["alertname"]?.text }).sorted() }
  }

  private let port: TestPort
  private let received: LoopConfined<[Notification]>
  private let loop: EventLoop

  /// Listens on the loopback address, on a port of the kernel's choice.
  init(on loop: EventLoop) throws {
    let port = try TestPort(.open)
    let received = LoopConfined<[Notification]>([], on: loop)
    (self.port, self.received, self.loop) = (port, received, loop)
    loop.spawn {
      while let client = try? await port.acceptNext(on: loop) {
        loop.spawn {
          defer { client.close() }
          guard let notification = try? await Self.receive(client, on: loop) else { return }
          received.withState { $0.append(notification) }
          _ = try? client.send(Array("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".utf8))
        }
      }
    }
  }

  /// `127.0.0.1:PORT`.
  var address: String { "127.0.0.1:\(port.number)" }

  /// All that has come so far, in order.
  var notifications: [Notification] { received.withState { $0 } }

  /// Waits for a notification that suits.
  func await(
    _ what: String, where condition: (Notification) -> Bool
  ) async throws -> Notification {
    try await eventually(
      what, on: loop, within: .seconds(120), state: { "\(notifications)" },
      { notifications.first(where: condition) })
  }

  private static func receive(_ client: Socket, on loop: EventLoop) async throws -> Notification {
    var bytes: [UInt8] = []
    while true {
      if let chunk = try client.receive(upTo: 65_536) {
        guard !chunk.isEmpty else { throw HTTPFailure(description: "ended early") }
        bytes += chunk
        if let request = try whole(bytes) { return Notification(path: request.0, body: request.1, time: loop.now()) }
      } else {
        _ = try await loop.wait(on: client.number, for: .readable, until: loop.now().advanced(by: .seconds(20)))
      }
    }
  }

  /// The path and the body of a request; nil when it is not whole yet.
  private static func whole(_ bytes: [UInt8]) throws -> (String, JSON)? {
    guard let end = bytes.indices.first(where: { bytes[$0...].starts(with: "\r\n\r\n".utf8) }) else { return nil }
    let head = String(decoding: bytes[..<end], as: UTF8.self)
    guard let length = head.firstMatch(of: /(?i)content-length: *(\d+)/).flatMap({ Int($0.output.1) }) else {
      throw HTTPFailure(description: "no length: \(head)")
    }
    let body = bytes[(end + 4)...]
    guard body.count >= length else { return nil }
    return (String(head.split(separator: " ")[1]), try JSON(parsing: String(decoding: body, as: UTF8.self)))
  }
}
