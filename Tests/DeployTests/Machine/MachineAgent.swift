import ReachCore
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// The agent that a booted machine runs as its service `reachd`.
///
/// Isolation: on the machine's event loop.
struct MachineAgent {
  let machine: BootedMachine
  let loop: EventLoop

  /// To ask it at its usual address, from inside the machine.
  var client: HTTPClient { HTTPClient(address: .loopback, port: 10120, loop: loop, network: machine.network) }

  /// What systemd says of the service: a property of `systemctl show`.
  func property(_ name: String) async throws -> String {
    let text = try await machine.succeed("systemctl", "show", "--value", "--property=\(name)", "reachd.service")
    return text.split(separator: "\n").first.map(String.init) ?? ""
  }

  /// Waits until a property has a value that suits, and returns it.
  @discardableResult
  func awaitProperty(_ name: String, where condition: (String) -> Bool) async throws -> String {
    var last = ""
    return try await eventually("\(name) of the service", on: loop, state: { last }) {
      last = try await property(name)
      return condition(last) ? last : nil
    }
  }

  /// Has it started anew, with these lines for the section [Service] of a drop-in.
  func restart(with setting: String) async throws {
    try machine.write("[Service]\n\(setting)\n", to: "/etc/systemd/system/reachd.service.d/test.conf")
    try await machine.succeed("systemctl", "daemon-reload")
    try await machine.succeed("systemctl", "restart", "reachd.service")
  }

  /// The text that the journal has of the service: its own lines and those of systemd about it.
  func journal() async throws -> String {
    try await machine.succeed("journalctl", "--no-pager", "--unit=reachd.service", "--output=cat")
  }

  /// The lines of an event that the journal has of the service's last start, about a target or about any.
  func lines(_ event: String, target: String? = nil) async throws -> [JSON] {
    let start = "_SYSTEMD_INVOCATION_ID=" + (try await property("InvocationID"))
    return try await machine.succeed("journalctl", "--no-pager", "--output=cat", start).split(separator: "\n")
      .compactMap { try? JSON(parsing: String($0)) }
      .filter { $0["event"]?.text == event && (target == nil || $0["target"]?.text == target) }
  }

  /// Waits for a line of an event since the service's last start.
  func awaitLine(
    _ event: String, target: String? = nil, where condition: (JSON) -> Bool = { _ in true }
  ) async throws -> JSON {
    var last = ""
    return try await eventually("\(event) in the journal", on: loop, state: { last }) {
      last = try await journal()
      return try await lines(event, target: target).first(where: condition)
    }
  }

  /// What the API says of a target; nil while it does not answer.
  func target(_ name: String) async throws -> JSON? {
    try? await client.json("/api/v1/targets").elements.first { $0["target"]?.text == name }
  }

  /// Waits until a target has that status, and returns what the API says of it.
  @discardableResult
  func awaitStatus(_ status: String, of name: String) async throws -> JSON {
    var last: JSON?
    return try await eventually("\(name) to be \(status)", on: loop, state: { "\(last as Any)" }) {
      last = try await target(name)
      return last?["status"]?.text == status ? last : nil
    }
  }
}

/// Boots a machine with the agent on a configuration, in a network of its own, and runs `body` once the service is up;
/// then has it shut down. `furnish` puts more into the layer before.
func withMachineAgent<Value: Sendable>(
  _ configuration: String, awaitsStart: Bool = true,
  furnish: @escaping @Sendable (MachineLayer) throws -> Void = { _ in },
  _ body: @escaping @Sendable (MachineAgent, NetworkStage) async throws -> Value
) async throws -> Value {
  try await withNetworkNamespace { loop, stage in
    let layer = try MachineLayer()
    try layer.installAgent(configuration)
    try furnish(layer)
    let machine = try await BootedMachine.boot(layer, in: stage, on: loop)
    let agent = MachineAgent(machine: machine, loop: loop)
    if awaitsStart { try await agent.awaitProperty("ActiveState") { $0 == "active" } }
    let value = try await body(agent, stage)
    try await machine.powerOff()
    return value
  }
}
