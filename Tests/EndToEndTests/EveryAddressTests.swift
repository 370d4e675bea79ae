import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Names with several addresses, whose addresses change, and whose resolver fails, through the whole program.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"), .serialized, .timeLimit(.minutes(5)))
struct EveryAddressTests {
  private static func zone(_ records: String) -> String {
    "$ORIGIN reachd.test.\n$TTL 300\n@ IN SOA ns h 1 3600 600 86400 60\n@ IN NS ns\nns IN A 198.51.100.2\n" + records
      + "\n"
  }

  private static let dns = "{ dns: { server: 198.51.100.2, timeout: 1s } }"

  @Test("each address is evidence of its own, and a silent one costs the others nothing")
  func several() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.set("ipv4/icmp_ratelimit", to: "0")
      // The lowest address comes first, and nothing comes back from it.
      try router.nft(
        """
        table inet t { chain c { type filter hook forward priority 0;
          ip daddr 198.51.100.1 drop
          ip daddr 198.51.100.9 reject with icmp type host-unreachable
        }; }
        """)
      let records = [1, 2, 9].map { "several IN A 198.51.100.\($0)" } + ["several IN AAAA 2001:db8:1::2"]
      let nsd = try NameServer(
        zone: Self.zone(records.joined(separator: "\n")), at: "198.51.100.2", in: server, on: loop)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 4s, timeout: 3500ms, fall: 1 }
        targets:
          - { name: any, host: several.reachd.test, port: \(open.number), probes: [route, link, \(Self.dns), tcp] }
          - { name: all, host: several.reachd.test, port: \(open.number), address_policy: all, probes: [route, link, \(Self.dns), tcp] }
        """, on: loop)
      let any = try await agent.awaitStatus("ReachableViaWiFi", of: "any")
      #expect(any["path"]?["address"] == .string("198.51.100.2"))
      let seen = any["addresses"]?.elements.map { "\($0["address"]?.text ?? "") \($0["reason"]?.text ?? "")" }
      #expect(
        seen == [
          "2001:db8:1::2 tcp_refused", "198.51.100.1 tcp_timeout", "198.51.100.2 tcp_open",
          "198.51.100.9 tcp_host_unreachable",
        ])
      let all = try await agent.awaitStatus("NotReachable", of: "all")
      #expect(all["path"]?["address"] == .string("2001:db8:1::2"))
      #expect(all["reason"] == .string("tcp_refused"))
      let metrics = try await agent.client.metrics()
      for (family, state, count) in [
        ("ipv4", "reachable", 1.0), ("ipv4", "unreachable", 2), ("ipv6", "unreachable", 1),
      ] {
        let labels = ["target": "any", "family": family, "state": state]
        #expect(metrics.value("reachability_addresses", labels) == count)
      }
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open)) {}
    }
  }

  @Test("of seventy addresses 64 are probed, the same in every round, and one that is open is found among them")
  func many() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try router.nft(
        "table inet t { chain c { type filter hook forward priority 0; ip daddr 198.51.100.128/25 drop; }; }")
      // The open one is the highest of the 64 lowest, behind as many that answer nothing.
      let records =
        (0..<63).map { "big IN A 198.51.100.\(128 + $0)" } + ["big IN A 203.0.113.1"]
        + (0..<6).map { "big IN A 203.0.113.\(100 + $0)" }
      let nsd = try NameServer(
        zone: Self.zone(records.joined(separator: "\n")), at: "198.51.100.2", in: server, on: loop)
      try server.ip("address add 203.0.113.1/32 dev lo")
      try router.ip("route add 203.0.113.0/24 via 198.51.100.2")
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: "203.0.113.1") }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5s, timeout: 4s }
        targets:
          - { name: big, host: big.reachd.test, port: \(open.number), probes: [route, link, \(Self.dns), tcp] }
        """, on: loop)
      let target = try await agent.awaitStatus("ReachableViaWiFi", of: "big")
      #expect(target["addresses"]?.elements.count == 64)
      #expect(target["path"]?["address"] == .string("203.0.113.1"))
      let before = target["addresses"]?.elements.compactMap { $0["address"]?.text } ?? []
      #expect(
        before == before.sorted { (try? IPAddress(parsing: $0).low) ?? 0 < (try? IPAddress(parsing: $1).low) ?? 0 })
      _ = try await eventually("more rounds", on: loop) { () -> Bool? in
        let labels = ["target": "big", "probe": "tcp", "outcome": "success"]
        return try await agent.client.metrics().value("reachability_probe_runs_total", labels) ?? 0 >= 3 ? true : nil
      }
      let after = try await agent.target("big")?["addresses"]?.elements.compactMap { $0["address"]?.text }
      #expect(after == before)
      #expect(try await agent.client.metrics().value("reachability_address_changes_total", ["target": "big"]) == 0)
      #expect(agent.lines("status_changed").isEmpty)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open)) {}
    }
  }

  @Test(
    "addresses that change are counted and break nothing; while the resolver is away the old ones serve, and it is said"
  )
  func changing() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      try server.ip("address add 198.51.100.3/24 dev veth3")
      func start(_ address: String) throws -> NameServer {
        try NameServer(zone: Self.zone("moving 1 IN A \(address)"), at: "198.51.100.2", in: server, on: loop)
      }
      var nsd: NameServer? = try start("198.51.100.2")
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: "0.0.0.0") }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 1s, timeout: 900ms, resolve: { min: 1s, max: 5m } }
        targets:
          - { name: moving, host: moving.reachd.test, port: \(open.number), probes: [route, link, \(Self.dns), tcp] }
        """, on: loop)
      let first = try await agent.awaitStatus("ReachableViaWiFi", of: "moving")
      #expect(first["path"]?["address"] == .string("198.51.100.2"))
      nsd = nil
      let failing = try await eventually("a resolver that fails", on: loop, state: { agent.process.errors }) {
        let target = try await agent.target("moving")
        return target?["probes"]?["dns"]?["outcome"]?.text == "failure" ? target : nil
      }
      #expect(failing["probes"]?["dns"]?["detail"] == .string("dns_stale"))
      #expect(failing["probes"]?["dns"]?["reason"] == .string("dns_unreachable"))
      #expect(failing["status"] == .string("ReachableViaWiFi"))
      #expect(failing["reason"] == .string("tcp_open"))
      let line = try await agent.awaitLine("self_check") { $0["check"] == .string("resolver") }
      #expect(line["problem"]?.text?.contains("dns_stale") == true)
      #expect(line["problem"]?.text?.contains("moving") == true)
      #expect(line["remedy"]?.text?.contains("198.51.100.2") == true)
      let stale = ["target": "moving", "probe": "dns", "reason": "dns_stale"]
      #expect(try await agent.client.metrics().value("reachability_probe_failures_total", stale) ?? 0 >= 1)
      nsd = try start("198.51.100.3")
      _ = try await eventually("the new address", on: loop, state: { agent.process.errors }) { () -> Bool? in
        try await agent.target("moving")?["path"]?["address"] == .string("198.51.100.3") ? true : nil
      }
      let changes = try await agent.client.metrics().value("reachability_address_changes_total", ["target": "moving"])
      #expect(changes == 1)
      #expect(agent.lines("status_changed").isEmpty)
      #expect(agent.lines("path_changed").isEmpty)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((nsd, open)) {}
    }
  }
}
