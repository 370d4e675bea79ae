import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What routers and neighbours say, or leave unsaid, to a running agent.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct RejectionTests {
  private struct Kind {
    let name: String
    let isIPv6: Bool
    let reject: String
    let reason: String
  }

  private static let kinds = [
    Kind(name: "net4", isIPv6: false, reject: "icmp type net-unreachable", reason: "tcp_net_unreachable"),
    Kind(name: "host4", isIPv6: false, reject: "icmp type host-unreachable", reason: "tcp_host_unreachable"),
    Kind(name: "admin4", isIPv6: false, reject: "icmp type admin-prohibited", reason: "tcp_admin_prohibited"),
    Kind(name: "net6", isIPv6: true, reject: "icmpv6 type no-route", reason: "tcp_net_unreachable"),
    Kind(name: "host6", isIPv6: true, reject: "icmpv6 type addr-unreachable", reason: "tcp_host_unreachable"),
    Kind(name: "admin6", isIPv6: true, reject: "icmpv6 type admin-prohibited", reason: "tcp_admin_prohibited"),
  ]

  @Test("each ICMP error of a router is told apart in both families, after as many failures as `fall` asks for")
  func icmp() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      // A router that is busy keeps errors to itself; what is left then is silence.
      try router.set("ipv4/icmp_ratelimit", to: "0")
      try router.set("ipv6/icmp/ratelimit", to: "0")
      var ports: [TestPort] = []
      var targets = ""
      var rules = ""
      for kind in Self.kinds {
        let address = kind.isIPv6 ? StageAddress.server6 : StageAddress.server
        let port = try server.perform { () throws(SystemError) in try TestPort(.open, on: address) }
        for fall in 1...2 {
          targets +=
            "  - { name: \(kind.name)-\(fall), address: \"\(address)\", port: \(port.number), fall: \(fall) }\n"
        }
        rules += "meta nfproto \(kind.isIPv6 ? "ipv6" : "ipv4") tcp dport \(port.number) reject with \(kind.reject);\n"
        ports.append(port)
      }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 1s, timeout: 900ms }\ntargets:\n" + targets, options: ["--log-level", "debug"],
        on: loop)
      var watches: [StatusWatch] = []
      for kind in Self.kinds {
        for fall in 1...2 { watches.append(try await StatusWatch(agent, "\(kind.name)-\(fall)")) }
      }
      try router.nft("table inet t { chain c { type filter hook forward priority 0; \(rules) }; }")
      for index in watches.indices {
        let line = try await watches[index].expectDown(Self.kinds[index / 2].reason)
        #expect(line["layer"] == .string("tcp"))
        #expect(agent.runsInARow(of: "tcp", "failure", target: watches[index].target, before: line) == index % 2 + 1)
      }
      try router.nft("delete table inet t")
      for index in watches.indices { try await watches[index].expectUp("tcp_open") }
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(ports) {}
    }
  }

  @Test("a neighbour that has gone is named as what fails, and is found again")
  func neighbour() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      // The kernel gives a neighbour up after three questions, a second apart unless told otherwise.
      for family in ["ipv4", "ipv6"] { try stage.set("\(family)/neigh/veth0/retrans_time_ms", to: "100") }
      let addresses = "address add 192.0.2.50/24 dev veth1\naddress add 2001:db8::50/64 dev veth1"
      try gateway.ip(addresses)
      let (open, open6) = try gateway.perform { () throws(SystemError) in
        (try TestPort(.open, on: "192.0.2.50"), try TestPort(.open, on: "2001:db8::50"))
      }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 1s, timeout: 900ms }
        targets:
          - { name: four, address: 192.0.2.50, port: \(open.number) }
          - { name: six, address: "2001:db8::50", port: \(open6.number) }
          - { name: path, address: 192.0.2.50 }
        """, on: loop)
      var four = try await StatusWatch(agent, "four")
      var six = try await StatusWatch(agent, "six")
      let path = try await StatusWatch(agent, "path")
      try gateway.ip("address delete 192.0.2.50/24 dev veth1\naddress delete 2001:db8::50/64 dev veth1")
      try stage.ip("neighbour flush dev veth0")
      try await four.expectDown("neigh_failed")
      try await six.expectDown("neigh_failed")
      try gateway.ip(addresses)
      try await four.expectUp("tcp_open")
      try await six.expectUp("tcp_open")
      // Nothing was sent for it, so nothing is known against it.
      #expect(path.unread.isEmpty)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((open, open6)) {}
    }
  }
}
