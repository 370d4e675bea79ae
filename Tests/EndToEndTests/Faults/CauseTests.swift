import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Faults that several targets share, staged: one line for one fault, named rightly, and none where there is none.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .serialized, .timeLimit(.minutes(5)))
struct CauseTests {
  @Test("a cut cable is one cause for five targets, which all carry its identifier, and ends when it is mended")
  func cable() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let names = (1...5).map { "t\($0)" }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5s, timeout: 1s }
        targets: [\(names.map { "{ name: \($0), address: 198.51.100.\($0.dropFirst()) }" }.joined(separator: ", "))]
        """, on: loop)
      try await agent.awaitReady()
      for name in names { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }

      try gateway.ip("link set veth1 down")
      let cause = try await agent.awaitLine("cause")
      #expect(cause["cause"] == .string("link:veth0"))
      #expect(cause["reason"] == .string("carrier_lost"))
      #expect(cause["targets"]?.elements.compactMap(\.text) == names)
      #expect(cause["targets_count"] == .number(5))
      let id = try #require(cause["cause_id"]?.text)
      expectOneID(id, names, agent)
      #expect(try await causes(agent) == Dictionary(uniqueKeysWithValues: names.map { ($0, "link:veth0") }))

      try gateway.ip("link set veth1 up")
      let cleared = try await agent.awaitLine("cause_cleared")
      #expect(cleared["cause_id"] == .string(id))
      #expect(cleared["targets"]?.elements.count == 5)
      for name in names { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
      #expect(try await causes(agent).isEmpty)

      try gateway.ip("link set veth1 down")
      let second = try await agent.awaitLine("cause") { $0["cause_id"]?.text != id }
      #expect(second["cause"] == .string("link:veth0"))
      #expect(try await agent.stop() == 0)
      #expect(agent.lines("cause").count == 2)
    }
  }

  @Test("an interface that is set down takes its routes along: the interface is the cause, not the lack of a route")
  func interfaceDown() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let names = ["near", "far", "veth0"]
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5s, timeout: 1s }
        targets:
          - { name: near, address: 192.0.2.254 }
          - { name: far, address: 198.51.100.1 }
          - { name: veth0, interface: veth0 }
        """, on: loop)
      try await agent.awaitReady()
      try stage.ip("link set veth0 down")
      let cause = try await agent.awaitLine("cause")
      #expect(cause["cause"] == .string("link:veth0"))
      #expect(cause["reason"] == .string("link_down"))
      #expect(cause["targets"]?.elements.compactMap(\.text) == names)
      expectOneID(cause["cause_id"]?.text, names, agent)

      // What the kernel does not give back with the interface is another fault, of one target alone.
      try stage.ip("link set veth0 up")
      _ = try await agent.awaitLine("cause_cleared")
      _ = try await agent.awaitStatus("ReachableViaWiFi", of: "near")
      let far = try await agent.awaitStatus("NotReachable", of: "far")
      #expect(far["reason"] == .string("no_route"))
      #expect(try await causes(agent).isEmpty)
      #expect(try await agent.stop() == 0)
      #expect(agent.lines("cause").count == 1)
      withExtendedLifetime(gateway) {}
    }
  }

  @Test("a default route that is taken away is one cause for all that used it")
  func route() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5s, timeout: 1s }
        targets:
          - { name: a, address: 198.51.100.1 }
          - { name: b, address: 198.51.100.2 }
          - { name: near, address: 192.0.2.254 }
        """, on: loop)
      try await agent.awaitReady()
      try stage.ip("route delete default")
      let cause = try await agent.awaitLine("cause")
      #expect(cause["cause"] == .string("route:no_route"))
      expectOneID(cause["cause_id"]?.text, ["a", "b"], agent)
      try stage.ip("route add default via 192.0.2.254")
      _ = try await agent.awaitLine("cause_cleared")
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(gateway) {}
    }
  }

  @Test("a gateway that answers no ARP is the cause for what lies behind it, not for the neighbour beside it")
  func neighbour() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try stage.set("ipv4/neigh/veth0/retrans_time_ms", to: "100")
      let ports = try server.perform { () throws(SystemError) in
        [try TestPort(.open, on: StageAddress.server), try TestPort(.open, on: StageAddress.server)]
      }
      let agent = try await RunningAgent.start(
        Self.configuration(ports, interval: "1600ms", timeout: "1500ms"), on: loop)
      try await agent.awaitReady()
      try router.ip("link set veth1 arp off")
      try stage.ip("neigh flush dev veth0")
      let cause = try await agent.awaitLine("cause")
      #expect(cause["cause"] == .string("gateway:192.0.2.254"))
      #expect(cause["reason"] == .string("neigh_failed"))
      expectOneID(cause["cause_id"]?.text, ["s0", "s1"], agent)
      try router.ip("link set veth1 arp on")
      _ = try await agent.awaitLine("cause_cleared")
      for name in ["s0", "s1"] { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
      #expect(try await agent.stop() == 0)
      #expect(agent.lines("cause").count == 1)
      withExtendedLifetime(ports) {}
    }
  }

  @Test("a router that drops everything is named; two dead services of four behind it name nobody")
  func router() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      let ports = try server.perform { () throws(SystemError) in
        try (0..<4).map { _ throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      }
      let agent = try await RunningAgent.start(Self.configuration(ports, interval: "600ms", timeout: "400ms"), on: loop)
      try await agent.awaitReady()

      try server.nft(
        """
        table inet t { chain c { type filter hook input priority 0;
        tcp dport { \(ports[0].number), \(ports[1].number) } drop; }; }
        """)
      for name in ["s0", "s1"] {
        let target = try await agent.awaitStatus("NotReachable", of: name)
        #expect(target["reason"] == .string("tcp_timeout"))
      }
      // Everybody has been asked again, more than once.
      let runs = try await rounds(of: "s3", agent)
      _ = try await eventually("more rounds", on: loop) { try await rounds(of: "s3", agent) > runs + 5 ? true : nil }
      #expect(agent.lines("cause").isEmpty)
      #expect(try await causes(agent).isEmpty)

      try server.nft("delete table inet t")
      for name in ["s0", "s1"] { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
      try router.nft("table inet t { chain c { type filter hook forward priority 0; policy drop; }; }")
      let cause = try await agent.awaitLine("cause")
      #expect(cause["cause"] == .string("gateway:192.0.2.254"))
      #expect(cause["reason"] == .string("tcp_timeout"))
      try await awaitCauses(["s0", "s1", "s2", "s3"], agent)
      for name in ["s0", "s1", "s2", "s3"] {
        #expect(agent.lines("status_changed", target: name).last?["cause_id"] == cause["cause_id"])
      }
      try router.nft("delete table inet t")
      _ = try await agent.awaitLine("cause_cleared")
      #expect(try await agent.stop() == 0)
      #expect(agent.lines("cause").count == 1 && agent.lines("cause_cleared").count == 1)
      withExtendedLifetime(ports) {}
    }
  }

  @Test(
    "a name server that is gone is the cause for the names that need it, and so is one that is silent",
    .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"))
  func resolver() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      var nsd: NameServer? = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      try server.nft("table inet t { chain c { type filter hook input priority 0; udp dport 53 drop; }; }")
      let names = ["a", "b", "c", "d", "e"]
      let agent = try await RunningAgent.start(
        "defaults: { interval: 700ms, timeout: 600ms }\ntargets:\n" + Self.names(names)
          + "  - { name: address, address: 198.51.100.2 }\n", on: loop)
      let silent = try await agent.awaitLine("cause")
      #expect(silent["cause"] == .string("resolver:198.51.100.2"))
      #expect(silent["reason"] == .string("dns_timeout"))
      try await awaitCauses(names, agent)
      for name in names {
        #expect(agent.lines("status_initial", target: name).last?["cause_id"] == silent["cause_id"], "\(name)")
      }

      try server.nft("delete table inet t")
      _ = try await agent.awaitLine("cause_cleared")
      for name in ["a", "b", "c"] { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
      for name in ["d", "e"] {
        _ = try await agent.awaitLine("reason_changed", target: name) { $0["reason"]?.text == "dns_nxdomain" }
      }
      #expect(try await causes(agent).isEmpty, "a name that does not exist accuses nobody")

      // Names that were resolved once go on by what they were resolved to.
      nsd = nil
      let gone = try await agent.awaitLine("cause") { $0["cause_id"] != silent["cause_id"] }
      #expect(gone["cause"] == .string("resolver:198.51.100.2"))
      #expect(gone["targets"]?.elements.compactMap(\.text) == ["d", "e"])
      try await awaitCauses(["d", "e"], agent)
      #expect(try await agent.target("a")?["status"] == .string("ReachableViaWiFi"))
      #expect(try await agent.stop() == 0)
      #expect(agent.lines("cause").count == 2)
      withExtendedLifetime(nsd) {}
    }
  }

  @Test(
    "a router that drops everything is the one cause for services and for names whose server is behind it",
    .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"))
  func resolverBehindRouter() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      let ports = try server.perform { () throws(SystemError) in
        [try TestPort(.open, on: StageAddress.server), try TestPort(.open, on: StageAddress.server)]
      }
      let agent = try await RunningAgent.start(
        Self.configuration(ports, interval: "600ms", timeout: "400ms") + Self.names(["d", "e"]), on: loop)
      try await agent.awaitReady()
      for name in ["d", "e"] {
        _ = try await eventually("\(name) to be absent", on: loop) {
          try await agent.target(name)?["reason"] == .string("dns_nxdomain") ? true : nil
        }
      }
      try router.nft("table inet t { chain c { type filter hook forward priority 0; policy drop; }; }")
      let cause = try await agent.awaitLine("cause")
      #expect(cause["cause"] == .string("gateway:192.0.2.254"))
      try await awaitCauses(["d", "e", "s0", "s1"], agent)
      #expect(Set(try await causes(agent).values) == ["gateway:192.0.2.254"])
      #expect(try await agent.stop() == 0)
      #expect(agent.lines("cause").count == 1)
      withExtendedLifetime((nsd, ports)) {}
    }
  }

  // MARK: Configurations

  private static let zone = """
    $ORIGIN reachd.test.
    $TTL 1
    @ IN SOA ns hostmaster 1 3600 600 86400 1
    @ IN NS  ns
    ns IN A  198.51.100.2
    a  IN A  198.51.100.2
    b  IN A  198.51.100.2
    c  IN A  198.51.100.2

    """

  /// Names of the zone, or such as it does not have, asked of its own server.
  private static func names(_ names: [String]) -> String {
    names.map { name in
      "  - { name: \(name), host: \(name).reachd.test, "
        + "probes: [link, route, { dns: { server: 198.51.100.2, timeout: 300ms } }] }\n"
    }.joined()
  }

  /// Targets `s0`, `s1` and so on, a service each.
  private static func configuration(_ ports: [TestPort], interval: String, timeout: String) -> String {
    let targets = ports.enumerated().map { "  - { name: s\($0), address: 198.51.100.2, port: \($1.number) }\n" }
    return "defaults: { interval: \(interval), timeout: \(timeout) }\ntargets:\n" + targets.joined()
  }

  // MARK: Reading

  /// Every one of the targets turned NotReachable once, and says why with that identifier.
  private func expectOneID(_ id: String?, _ names: [String], _ agent: RunningAgent) {
    for name in names {
      let losses = agent.lines("status_changed", target: name).filter { $0["to"]?.text == "NotReachable" }
      #expect(losses.count == 1 && losses.first?["cause_id"]?.text == id, "\(name)")
    }
  }

  /// The cause of each target that has one, by the metrics.
  private func causes(_ agent: RunningAgent) async throws -> [String: String] {
    let samples = try ExpositionText(parsing: try await agent.client.get("/metrics").body).samples
    let pairs = samples.filter { $0.name == "reachability_cause_info" }.map {
      ($0.labels["target"] ?? "", $0.labels["cause"] ?? "")
    }
    return Dictionary(pairs) { first, _ in first }
  }

  /// Waits until the metrics give these targets, and no others, a cause: some join it after it was told.
  private func awaitCauses(_ names: [String], _ agent: RunningAgent) async throws {
    _ = try await eventually("the cause of \(names)", on: agent.client.loop) {
      try await causes(agent).keys.sorted() == names ? true : nil
    }
  }

  /// How many rounds of a target have ended well.
  private func rounds(of name: String, _ agent: RunningAgent) async throws -> Double {
    let text = try ExpositionText(parsing: try await agent.client.get("/metrics").body)
    return text.value(
      "reachability_probe_runs_total", ["target": name, "probe": "tcp", "outcome": "success"]) ?? 0
  }
}
