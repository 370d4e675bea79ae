import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// How often something must be seen before it counts, and what does not count at all.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct ConfirmationTests {
  @Test("with fall 3 and rise 2, three failures and two successes in a row move the status")
  func thresholds() async throws {
    try await withNetworkNamespace { loop, stage in
      let open = try TestPort(.open)
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 300ms, timeout: 250ms }
        targets: [{ name: service, address: 127.0.0.1, port: \(open.number), fall: 3, rise: 2 }]
        """, options: ["--log-level", "debug"], on: loop)
      var service = try await StatusWatch(agent, "service")
      try stage.nft(
        """
        table inet t { chain c { type filter hook input priority 0; tcp dport \(open.number) reject with tcp reset; }; }
        """)
      let down = try await service.expectDown("tcp_refused")
      #expect(agent.runsInARow(of: "tcp", "failure", target: "service", before: down) == 3)
      try stage.nft("delete table inet t")
      let up = try await service.expectUp("tcp_open")
      #expect(agent.runsInARow(of: "tcp", "success", target: "service", before: up) == 2)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("without descriptors a status is held, then Unknown, and never NotReachable; with them it returns")
  func descriptors() async throws {
    try await withNetworkNamespace { loop, stage in
      let open = try TestPort(.open)
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 300ms, timeout: 250ms, unknown_after: 2, fall: 1 }
        targets:
          - { name: service, address: 127.0.0.1, port: \(open.number) }
          - { name: path, address: 127.0.0.1 }
        """, options: ["--log-level", "debug"], on: loop)
      var service = try await StatusWatch(agent, "service")
      let path = try await StatusWatch(agent, "path")
      let process = String(agent.process.processID)
      try stage.host.run(["prlimit", "--pid", process, "--nofile=3:"])
      let line = try await service.expect("Unknown", ["probe_error:EMFILE"])
      #expect(agent.runsInARow(of: "tcp", "error", target: "service", before: line) == 3)
      #expect(line["flags"] == .null || line["flags"] == .string("?? ???????"))
      try stage.host.run(["prlimit", "--pid", process, "--nofile=1024:"])
      try await service.expectUp("tcp_open")
      #expect(path.unread.isEmpty)
      let metrics = try await agent.client.metrics()
      #expect(metrics.transitions(of: "service", to: "NotReachable") == 0)
      #expect(metrics.transitions(of: "service", to: "Unknown") == 1)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a status that is held for a fault of this host says that it is stale")
  func stale() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let open = try gateway.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.gateway) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 300ms, timeout: 250ms, unknown_after: 100000, fall: 1 }
        targets: [{ name: service, address: 192.0.2.254, port: \(open.number) }]
        """, on: loop)
      let service = try await StatusWatch(agent, "service")
      try stage.set("ipv4/ip_local_port_range", to: "40000 40000")
      // The only port to connect from goes to a connection that is kept, once no probe is using it.
      var kept: KeptConnection? = try await eventually("the only port", on: loop) { try? KeptConnection(to: open) }
      // Asking the agent takes a port too, which may not be free yet from asking it before.
      let target = try await eventually("a stale status", on: loop, state: { agent.process.errors }) { () -> JSON? in
        guard let targets = try? await agent.client.json("/api/v1/targets") else { return nil }
        return targets[0]?["stale"] == .boolean(true) ? targets[0] : nil
      }
      #expect(target["status"] == .string("ReachableViaWiFi"))
      #expect(target["stale"] == .boolean(true))
      #expect(target["reason"] == .string("tcp_open"))
      #expect(target["probes"]?["tcp"]?["outcome"] == .string("error"))
      #expect(target["probes"]?["tcp"]?["reason"] == .string("probe_error:EADDRNOTAVAIL"))
      withExtendedLifetime(kept) {}
      kept = nil
      try stage.set("ipv4/ip_local_port_range", to: "32768 60999")
      let fresh = try await agent.awaitMetrics("a fresh status") {
        $0.value("reachability_stale", ["target": "service"]) == 0
      }
      #expect(fresh.statuses(of: "service") == ["ReachableViaWiFi"])
      #expect(service.unread.isEmpty)
      #expect(try await agent.stop() == 0)
    }
  }
}

/// A connection that is open for as long as this value lives.
private final class KeptConnection: Sendable {
  private let socket: Descriptor
  init(to port: TestPort) throws(SystemError) { socket = try connecting(to: port) }
}
