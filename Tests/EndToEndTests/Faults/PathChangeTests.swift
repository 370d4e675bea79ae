import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Ways that change while another stands by. Rounds are minutes apart: it is the kernel's word that counts.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct PathChangeTests {
  @Test("a default route that moves to another interface is a changed path and no change of status")
  func replacedDefault() async throws {
    try await withNetworkNamespace { loop, stage in
      let (router, server) = try stage.stageRouterAndServer()
      try stage.addBackupLink(to: router)
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 5m, timeout: 20s }
        targets:
          - { name: service, address: 198.51.100.2, port: \(open.number) }
          - { name: path, address: 198.51.100.2 }
          - default
        """, on: loop)
      var watches: [StatusWatch] = []
      for name in ["service", "path", "default"] { watches.append(try await StatusWatch(agent, name)) }
      try stage.ip("route replace default via 203.0.113.254")
      for watch in watches {
        let line = try await agent.awaitLine("path_changed", target: watch.target)
        #expect(line["from_interface"] == .string("veth0"))
        #expect(line["to_interface"] == .string("backup"))
      }
      let service = try await agent.target("service")
      #expect(service?["status"] == .string("ReachableViaWiFi"))
      #expect(service?["reason"] == .string("tcp_open"))
      #expect(service?["path"]?["gateway"] == .string("203.0.113.254"))
      // The peer is asked over the new way before its turn.
      try await agent.awaitRuns(2, of: "tcp", "success", target: "service")
      let metrics = try await agent.client.metrics()
      for watch in watches {
        #expect(watch.unread.isEmpty)
        #expect(metrics.value("reachability_path_changes_total", ["target": watch.target]) == 1)
        let path = ["target": watch.target, "interface": "backup"]
        #expect(metrics.value("reachability_path_info", path) == 1)
        #expect(agent.lines("path_changed", target: watch.target).count == 1)
      }
      #expect(metrics.value("reachd_event_to_status_seconds_count") == 0)
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  @Test("of two next hops the one without carrier fails the targets that the kernel sends by it, and no others")
  func deadLeg() async throws {
    try await withNetworkNamespace { loop, stage in
      let router = try stage.stageGateway()
      try stage.addBackupLink(to: router)
      try stage.ip("route replace default nexthop via 192.0.2.254 nexthop via 203.0.113.254")
      let hosts = (1...16).map { "198.51.100.\($0)" }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 5m, timeout: 20s }\ntargets: [\(hosts.joined(separator: ", "))]", on: loop)
      var onBackup: [StatusWatch] = []
      var others: [StatusWatch] = []
      for host in hosts {
        let watch = try await StatusWatch(agent, host)
        let metrics = try await agent.client.metrics()
        let path = ["target": host, "interface": "backup"]
        if metrics.value("reachability_path_info", path) == 1 { onBackup.append(watch) } else { others.append(watch) }
      }
      #expect(!onBackup.isEmpty && !others.isEmpty)
      try router.ip("link set backup1 down")
      for index in onBackup.indices {
        let line = try await onBackup[index].expectDown("carrier_lost")
        #expect(line["interface"] == .string("backup"))
      }
      try stage.ip("link set backup down")
      for index in onBackup.indices {
        let line = try await onBackup[index].expectUp("route_ok")
        #expect(line["interface"] == .string("veth0"))
      }
      for watch in onBackup + others { #expect(watch.unread.isEmpty) }
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("where connections are spread over two next hops, the one without carrier is named until it is set down")
  func deadLegOfSpreadConnections() async throws {
    try await withNetworkNamespace { loop, stage in
      let router = try stage.stageGateway()
      try stage.set("ipv4/fib_multipath_hash_policy", to: "1")
      try stage.addBackupLink(to: router)
      try stage.ip("route replace default nexthop via 192.0.2.254 nexthop via 203.0.113.254")
      // Some of so many go by one next hop and some by the other.
      let hosts = (1...16).map { "198.51.100.\($0)" }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 5m, timeout: 20s }\ntargets: [\(hosts.joined(separator: ", "))]", on: loop)
      var watches: [StatusWatch] = []
      for host in hosts { watches.append(try await StatusWatch(agent, host)) }
      try router.ip("link set backup1 down")
      for index in watches.indices {
        let line = try await watches[index].expectDown("carrier_lost")
        #expect(line["interface"] == .string("backup"))
      }
      try stage.ip("link set backup down")
      for index in watches.indices {
        let line = try await watches[index].expectUp("route_ok")
        #expect(line["interface"] == .string("veth0"))
      }
      for watch in watches { #expect(watch.unread.isEmpty) }
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("a next hop object that is deleted takes its routes along without a word about them")
  func nexthopObject() async throws {
    try await withNetworkNamespace { loop, stage in
      let router = try stage.stageGateway()
      try stage.ip("nexthop add id 7 via 192.0.2.254 dev veth0\nroute replace default nhid 7")
      let agent = try await RunningAgent.start(
        "defaults: { interval: 5m, timeout: 20s }\ntargets: [default, 198.51.100.2]", on: loop)
      var path = try await StatusWatch(agent, "198.51.100.2")
      var overall = try await StatusWatch(agent, "default")
      try stage.ip6("route delete default")
      try stage.ip("nexthop delete id 7")
      try await path.expectDown("no_route")
      try await overall.expectDown("no_route")
      try stage.ip("nexthop add id 7 via 192.0.2.254 dev veth0\nroute add default nhid 7")
      try await path.expectUp("route_ok")
      try await overall.expectUp("route_ok")
      #expect(try await agent.stop() == 0)
      withExtendedLifetime(router) {}
    }
  }

  @Test("a switch that makes the kernel pass over routes without carrier moves the path to the standby route and back")
  func ignoredRoutes() async throws {
    try await withNetworkNamespace { loop, stage in
      let router = try stage.stageGateway()
      try stage.addBackupLink(to: router)
      try stage.ip("route add default via 203.0.113.254 metric 100")
      let agent = try await RunningAgent.start(
        "defaults: { interval: 5m, timeout: 20s }\ntargets: [198.51.100.2]", on: loop)
      var path = try await StatusWatch(agent, "198.51.100.2")
      try router.ip("link set veth1 down")
      try await path.expectDown("carrier_lost")
      try stage.set("ipv4/conf/veth0/ignore_routes_with_linkdown", to: "1")
      let line = try await path.expectUp("route_ok")
      #expect(line["interface"] == .string("backup"))
      try stage.set("ipv4/conf/veth0/ignore_routes_with_linkdown", to: "0")
      try await path.expectDown("carrier_lost")
      try router.ip("link set veth1 up")
      try await path.expectUp("route_ok")
      #expect(path.unread.isEmpty)
      #expect(try await agent.stop() == 0)
    }
  }
}
