import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The files that say how names are resolved change under a running agent. With an interval of an hour, nothing but the
/// change itself can bring about what is waited for.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"), .serialized, .timeLimit(.minutes(4)))
struct ResolverChangeTests {
  private static let zone = """
    $ORIGIN reachd.test.
    $TTL 300
    @       IN SOA  ns hostmaster 1 3600 600 86400 60
    @       IN NS   ns
    ns      IN A    198.51.100.2
    www     IN A    198.51.100.2

    """

  @Test("a resolv.conf or hosts that is replaced, rewritten or exchanged for a link has names resolved anew at once")
  func changes() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      let etc = try stage.copyFolder("/etc")
      // Nobody answers there, so that the first round goes on for as long as it may.
      _ = unsafe unlink("/etc/resolv.conf")
      try etc.write("nameserver 192.0.2.99\noptions use-vc\n", to: "resolv.conf")
      try etc.write("127.0.0.1 localhost\n", to: "hosts")
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 1h, timeout: 10m }
        targets:
          - { name: www, host: www.reachd.test, port: \(open.number) }
          - { name: hosted, host: hosted.example, port: \(open.number) }
        """, on: loop)
      // Replaced as an editor or resolvconf(8) does it.
      try etc.write("nameserver 198.51.100.2\n", to: "resolv.conf.new")
      try #require(unsafe rename("/etc/resolv.conf.new", "/etc/resolv.conf") == 0)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "www")
      #expect(try await agent.target("www")?["probes"]?["dns"]?["outcome"]?.text == "success")
      // Rewritten in place.
      try etc.write("127.0.0.1 localhost\n198.51.100.2 hosted.example\n", to: "hosts")
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "hosted")
      // Exchanged for a link, as systemd-resolved does it.
      try etc.write("nameserver 198.51.100.2\n", to: "stub.conf")
      let runs = try await runs(agent, "www")
      try #require(unsafe symlink("stub.conf", "/etc/link") == 0)
      try #require(unsafe rename("/etc/link", "/etc/resolv.conf") == 0)
      try await awaitMoreRuns(agent, "www", than: runs, on: loop)
      // And what the link leads to is watched now.
      let more = try await self.runs(agent, "www")
      #expect(agent.lines("self_check").isEmpty)
      try etc.write("# nobody\n", to: "stub.conf")
      try await awaitMoreRuns(agent, "www", than: more, on: loop)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open, etc)) {}
    }
  }

  @Test("a resolv.conf that is mounted over the file, as in a container, is seen when it is rewritten")
  func mounted() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      try stage.replaceFile("/etc/resolv.conf", with: "nameserver 192.0.2.99\n")
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 1h, timeout: 10m }
        targets: [{ name: www, host: www.reachd.test, port: \(open.number) }]
        """, on: loop)
      let number = try retryingInterrupts("open") {
        unsafe Glibc.open("/etc/resolv.conf", O_WRONLY | O_TRUNC | O_CLOEXEC)
      }
      let file = Descriptor(owning: number)
      let text = "nameserver 198.51.100.2\n"
      #expect(unsafe write(file.number, text, text.utf8.count) == text.utf8.count)
      try file.close()
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "www")
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open)) {}
    }
  }

  private func runs(_ agent: RunningAgent, _ target: String) async throws -> Double {
    try await agent.client.metrics().values("reachability_probe_runs_total", ["target": target, "probe": "dns"])
      .reduce(0, +)
  }

  private func awaitMoreRuns(
    _ agent: RunningAgent, _ target: String, than before: Double, on loop: EventLoop
  ) async throws {
    _ = try await eventually("another round of \(target)", on: loop, state: { agent.process.errors }) {
      try await runs(agent, target) > before ? true : nil
    }
  }
}
