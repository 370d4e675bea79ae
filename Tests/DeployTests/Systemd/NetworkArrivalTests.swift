import ReachCore
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The service at a boot without any network, in its sandbox.
@Suite(.serialized, .enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"))
struct NetworkArrivalTests {
  @Test(
    "the service starts with no network but lo, and sees one come and go without a restart", .timeLimit(.minutes(5)))
  func arrival() async throws {
    try await withMachineAgent(Self.configuration) { agent, stage in
      let lonely = try await agent.awaitStatus("NotReachable", of: "default")
      #expect(lonely["reason"]?.text == "no_route")
      let process = try await agent.property("MainPID")

      try MachineCable.plug(into: agent.machine, stage)
      let open = try TestPort(.open, on: MachineCable.peer, number: 8080)
      let names = try FakeNameServer(agent.loop, on: MachineCable.resolver, port: 53) { query in
        .reply(query.addresses([MachineCable.peer]))
      }
      try await agent.awaitStatus("ReachableViaWiFi", of: "default")
      let service = try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      #expect(service["path"]?["interface"]?.text == "eth0")
      #expect(service["addresses"]?[0]?["address"]?.text == "192.0.2.1")
      let changed = try await agent.awaitLine("status_changed", target: "default")
      #expect(changed["from"]?.text == "NotReachable" && changed["to"]?.text == "ReachableViaWiFi")

      try MachineCable.unplug(stage)
      try await agent.awaitStatus("NotReachable", of: "default")
      try await agent.awaitStatus("NotReachable", of: "service")
      #expect(try await agent.property("MainPID") == process)
      #expect(try await agent.property("NRestarts") == "0")
      names.stop()
      withExtendedLifetime(open) {}
    }
  }

  private static let configuration = """
    defaults: { interval: 1s, timeout: 800ms }
    targets:
      - default
      - { name: service, host: www.reachd.test, port: 8080 }
    """
}
