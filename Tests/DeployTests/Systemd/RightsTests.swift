import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What a drop-in gives the service, and what the administrator has to give it.
@Suite(.serialized, .enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"))
struct RightsTests {
  @Test(
    "with marks.conf a target with a mark is reached, and the agent has that one capability", .timeLimit(.minutes(5)))
  func marks() async throws {
    let file = try Repository.text("deploy/systemd/drop-ins/marks.conf")
    try await withMachineAgent(Self.configuration + Self.marked, furnish: { try $0.dropIn(file) }) { agent, stage in
      try MachineCable.plug(into: agent.machine, stage)
      let open = try TestPort(.open, on: MachineCable.peer, number: 8080)
      try await agent.awaitStatus("ReachableViaWiFi", of: "marked")
      let process = try await agent.property("MainPID")
      let status = try await agent.machine.succeed("grep", "^CapEff", "/proc/\(process)/status")
      // Bit 13: CAP_NET_RAW.
      #expect(status.hasSuffix("\t0000000000002000\n"), "\(status)")
      #expect(try await agent.lines("self_check").isEmpty)
      withExtendedLifetime(open) {}
    }
  }

  @Test(
    "a key that the service's user may not read keeps it from starting, with the file named; a reload with one changes nothing",
    .timeLimit(.minutes(5)))
  func unreadableKey() async throws {
    let authority = try TestAuthority()
    let files = try authority.issue("server", for: ["DNS:host.test"])
    try await withMachineAgent(Self.configuration) { agent, _ in
      try agent.machine.write(try textOfFile(files.certificate), to: "/etc/reachd/server.crt")
      try agent.machine.write(try textOfFile(files.key), to: "/etc/reachd/server.key")
      try await agent.machine.succeed("chmod", "600", "/etc/reachd/server.key")
      try agent.machine.write(
        "tls_server_config: { cert_file: server.crt, key_file: server.key }\n", to: "/etc/reachd/web.yaml")
      let secured = Self.configuration + "web: { config: web.yaml }\n"
      try agent.machine.write(secured, to: "/etc/reachd/reachd.yaml")
      #expect(try await agent.machine.run(["systemctl", "reload", "reachd"]).status == 1)
      #expect(try await agent.client.get("/-/healthy").status == 200)
      #expect(try await agent.journal().contains("server.key"))

      // Readable for its group is enough.
      try await agent.machine.succeed("chgrp", "reachd", "/etc/reachd/server.key")
      try await agent.machine.succeed("chmod", "640", "/etc/reachd/server.key")
      try await agent.machine.succeed("systemctl", "reload", "reachd")
    }
  }

  private static let marked = "  - { name: marked, address: 192.0.2.1, port: 8080, source: { mark: 7 } }\n"

  private static let configuration = """
    defaults: { interval: 1s, timeout: 800ms }
    state_dir: /var/lib/reachd
    targets:
      - default
      - { name: service, address: 192.0.2.1, port: 8080 }

    """
}
