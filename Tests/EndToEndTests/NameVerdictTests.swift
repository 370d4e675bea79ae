import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Names, resolved by a real name server behind a router, through the whole program.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"), .serialized, .timeLimit(.minutes(4)))
struct NameVerdictTests {
  private static let zone = """
    $ORIGIN reachd.test.
    $TTL 300
    @       IN SOA  ns hostmaster 1 3600 600 86400 60
    @       IN NS   ns
    ns      IN A    198.51.100.2
    www     IN A    198.51.100.2
    www     IN AAAA 2001:db8:1::2
    only4   IN A    198.51.100.2
    half    IN A    198.51.100.66
    half    IN A    198.51.100.2
    text    IN TXT  "no address"

    """

  @Test("names: resolved, absent, without address, refused, failed, unanswered, with no way to the server")
  func names() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.nft("table inet t { chain c { type filter hook forward priority 0; udp dport 7 drop; }; }")
      try stage.ip("route add unreachable 198.51.100.66\nroute add throw 203.0.113.53")
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      try await awaitAnswer(on: loop)

      func host(_ name: String, port: UInt16?, server: String = "198.51.100.2", timeout: String = "5s") -> String {
        let tcp = port.map { "port: \($0), " } ?? ""
        let last = port == nil ? "" : ", tcp"
        return "host: \(name), \(tcp)timeout: \(timeout), "
          + "probes: [link, route, { dns: { server: \"\(server)\" } }\(last)]"
      }
      try await expectVerdicts(
        [
          .up("open", host("only4.reachd.test", port: open.number), "-R -------", "tcp_open"),
          .up("one of two families", host("www.reachd.test", port: open.number), "-R -------", "tcp_open"),
          .up("one of two routes", host("half.reachd.test", port: open.number), "-R -------", "tcp_open"),
          .up("no port", host("only4.reachd.test", port: nil), "-R -------", "route_ok"),
          .down("closed", host("only4.reachd.test", port: 1), "tcp_refused"),
          .down("closed, or no route", host("half.reachd.test", port: 1), "tcp_refused"),
          .down("absent", host("none.reachd.test", port: 80), "dns_nxdomain"),
          .down("no address", host("text.reachd.test", port: 80), "dns_nodata"),
          .down("refused", host("www.foreign.test", port: 80), "dns_refused"),
          .down("failed", host("www.broken.test", port: 80), "dns_servfail"),
          .down(
            "unanswered", host("a.reachd.test", port: 80, server: "198.51.100.2:7", timeout: "500ms"), "dns_timeout"),
          .down("closed server", host("b.reachd.test", port: 80, server: "198.51.100.2:5"), "dns_unreachable"),
          .down("no way to the server", host("c.reachd.test", port: 80, server: "203.0.113.53"), "no_route"),
        ], settings: "defaults: { interval: 10s, timeout: 5s }", on: loop)
      withExtendedLifetime((nsd, open)) {}
    }
  }

  @Test("the system's name servers and /etc/hosts are used where no server is named, and the API says what they gave")
  func system() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      try stage.replaceFile("/etc/resolv.conf", with: "nameserver 198.51.100.2\n")
      try stage.replaceFile("/etc/hosts", with: "127.0.0.1 localhost\n198.51.100.2 hosted.example\n")
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      try await awaitAnswer(on: loop)
      let names = ["only4.reachd.test:\(open.number)", "hosted.example:\(open.number)", "localhost"]
      let (results, status) = try await Reachd.probe(names, on: loop)
      #expect(status == 0)
      #expect(results.map { $0["reason"]?.text } == ["tcp_open", "tcp_open", "local_address"])
      let first = try #require(results.first)
      #expect(first["kind"] == .string("host"))
      #expect(first["addresses"]?.elements.count == 1)
      #expect(first["addresses"]?[0]?["address"] == .string("198.51.100.2"))
      #expect(first["addresses"]?[0]?["state"] == .string("reachable"))
      #expect(first["path"]?["interface"] == .string("veth0"))
      #expect(first["path"]?["gateway"] == .string("192.0.2.254"))
      #expect(first["probes"]?["dns"]?["outcome"] == .string("success"))
      withExtendedLifetime((nsd, open)) {}
    }
  }

  @Test("a link without carrier is what is wrong with a name, not its resolver")
  func carrier() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      try gateway.ip("link set veth1 down")
      try stage.host.awaitLink("veth0", showing: "NO-CARRIER")
      let dns = "{ dns: { server: 198.51.100.2 } }"
      try await expectVerdicts(
        [.down("name", "host: www.reachd.test, port: 80, probes: [link, route, \(dns), tcp]", "carrier_lost")],
        settings: "defaults: { timeout: 500ms }", on: loop)
    }
  }

  @Test("while the resolver is silent the addresses it gave go on being probed")
  func stale() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      try await awaitAnswer(on: loop)
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 600ms, timeout: 500ms }
        targets:
          - name: service
            host: only4.reachd.test
            port: \(open.number)
            probes: [link, route, { dns: { server: 198.51.100.2, cache: false, timeout: 100ms } }, tcp]
        """, on: loop)
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      try router.nft("table inet t { chain c { type filter hook forward priority 0; udp dport 53 drop; }; }")
      let target = try await eventually("a DNS failure", on: loop, state: { agent.process.errors }) {
        let target = try await agent.target("service")
        return target?["probes"]?["dns"]?["outcome"]?.text == "failure" ? target : nil
      }
      #expect(target["probes"]?["dns"]?["reason"] == .string("dns_timeout"))
      #expect(target["status"] == .string("ReachableViaWiFi"))
      #expect(target["reason"] == .string("tcp_open"))
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open)) {}
    }
  }

  /// Waits until the server answers for its zone.
  private func awaitAnswer(on loop: EventLoop) async throws {
    let folder = try TestFolder()
    let file = try folder.write(
      "targets: [{ name: n, host: only4.reachd.test, probes: [{ dns: { server: 198.51.100.2 } }] }]", to: "n.yaml")
    _ = try await eventually("the name server", on: loop) {
      let (results, _) = try await Reachd.probe(["n"], config: file, options: ["--timeout", "1s"], on: loop)
      return results.first?["addresses"]?.elements.isEmpty == false ? true : nil
    }
  }
}
