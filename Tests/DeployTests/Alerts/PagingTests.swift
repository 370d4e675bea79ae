import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The agent, Debian's Prometheus and Debian's Alertmanager on the delivered files, and somebody who is paged.
///
/// All durations of the files are made shorter by one factor each: scrapes and evaluations come every 250 ms, `for: 30s`
/// is 3 s and `group_wait: 30s` is 500 ms. That a notification was the only one is said when it has been told that the
/// fault is mended, and neither Prometheus nor Alertmanager has an alert left to tell of.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(
    if: Prometheus.isAvailable && Alertmanager.isAvailable,
    "needs Debian's packages prometheus and prometheus-alertmanager"), .serialized, .timeLimit(.minutes(5)))
struct PagingTests {
  @Test("an uplink that is cut is one page with layer, reason and all targets, and its end; a shorter cut is none")
  func uplink() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 500ms, timeout: 400ms }
        targets:
          - default
          - 127.0.0.1
          - { name: gateway, address: \(StageAddress.gateway), labels: { site: fra1 } }
          - { name: far, address: 198.51.100.1 }
          - { name: uplink, interface: veth0 }
        """, port: 10120, on: loop)
      try await agent.awaitReady()
      let pager = try await Pager.start(on: loop)

      try gateway.ip("link set veth1 down")
      _ = try await pager.prometheus.awaitRule("ReachdCauseNotReachable", state: "pending")
      try gateway.ip("link set veth1 up")
      _ = try await pager.prometheus.awaitRule("ReachdCauseNotReachable", state: "inactive")

      let cut = loop.now()
      try gateway.ip("link set veth1 down")
      let page = try await pager.receiver.await("the page") { $0.status == "firing" }
      print("from the cut to the page: \(Duration.nanoseconds(page.time.nanoseconds(since: cut)).brief)")
      #expect(page.path == "/page")
      #expect(page.names == ["ReachdCauseNotReachable"])
      try #require(page.alerts.count == 1)
      let alert = page.alerts[0]
      #expect(alert["labels"]?["cause"] == .string("link:veth0"))
      #expect(alert["labels"]?["instance"] == .string("127.0.0.1:10120"))
      #expect(alert["labels"]?["severity"] == .string("page"))
      #expect(alert["annotations"]?["layer"] == .string("link"))
      #expect(alert["annotations"]?["reason"] == .string("carrier_lost"))
      #expect(alert["annotations"]?["targets"] == .string("default, far, gateway, uplink"))

      try gateway.ip("link set veth1 up")
      let mended = try await pager.receiver.await("the end") { $0.status == "resolved" }
      #expect(mended.alerts.first?["annotations"]?["targets"] == .string("default, far, gateway, uplink"))
      try await pager.expectOnly(["firing", "resolved"])
      #expect(try await agent.stop() == 0)
    }
  }

  @Test(
    "a name server that is dead is one page for all hosts that need it, and its end",
    .enabled(if: NameServer.isAvailable, "needs Debian's package nsd"))
  func nameServer() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
      try server.nft("table inet t { chain c { type filter hook input priority 0; udp dport 53 drop; }; }")
      let targets = ["a", "b", "c"].map { name in
        "  - { name: \(name), host: \(name).reachd.test, "
          + "probes: [link, route, { dns: { server: 198.51.100.2, timeout: 300ms } }] }\n"
      }
      let configuration = "defaults: { interval: 700ms, timeout: 600ms }\ntargets:\n" + targets.joined()
      var agents: [RunningAgent] = []
      for port in [10120, 10121] as [UInt16] {
        agents.append(try await RunningAgent.start(configuration, port: port, on: loop))
      }
      // Two hosts meet a fault at about the same time; two that are started after one another do not.
      for agent in agents {
        _ = try await eventually("the cause of all three", on: loop) {
          try await agent.client.metrics().values("reachability_cause_info").count == 3 ? true : nil
        }
      }
      let fleet = try textOfFile(Prometheus.delivered + "/fleet.yml")
      let pager = try await Pager.start(
        fleet, files: ["targets.d/hosts.yml": "[{ targets: ['127.0.0.1:10120', '127.0.0.1:10121'] }]"],
        notificationsFaster: 20, on: loop)
      let page = try await pager.receiver.await("the page") { $0.status == "firing" }
      #expect(page.path == "/page")
      #expect(page.body["groupLabels"]?["cause"] == .string("resolver:198.51.100.2"))
      #expect(page.names == ["ReachdCauseNotReachable"])
      let instances = page.alerts.compactMap { $0["labels"]?["instance"]?.text }
      #expect(instances.sorted() == ["127.0.0.1:10120", "127.0.0.1:10121"])
      for alert in page.alerts {
        #expect(alert["annotations"]?["layer"] == .string("dns"))
        #expect(alert["annotations"]?["reason"] == .string("dns_timeout"))
        #expect(alert["annotations"]?["targets"] == .string("a, b, c"))
      }

      try server.nft("delete table inet t")
      _ = try await pager.receiver.await("the end") { $0.status == "resolved" }
      try await pager.expectOnly(["firing", "resolved"])
      for agent in agents { #expect(try await agent.stop() == 0) }
      withExtendedLifetime(nsd) {}
    }
  }

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

  @Test("a service that refuses is a page of its own, and the delivered text tells a pager why")
  func refusal() async throws {
    try await withNetworkNamespace { loop, _ in
      let port = try FlappingPort()
      port.open()
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 200ms, timeout: 150ms }
        targets:
          - { name: db, address: 127.0.0.1, port: \(port.number), labels: { team: storage } }
          - 127.0.0.1
        """, port: 10120, on: loop)
      try await agent.awaitReady()
      let keys = try TestFolder()
      let key = try keys.write("0123456789abcdef", to: "pagerduty.key")
      let pager = try await Pager.start(
        edit: { text, receiver in
          ExampleComments.uncommented(text)
            .replacing("/etc/alertmanager/pagerduty.key", with: key)
            .replacing("global:\n", with: "global:\n  pagerduty_url: http://\(receiver.address)/events\n")
        }, on: loop)

      port.close()
      let page = try await pager.receiver.await("the page") { $0.path == "/page" && $0.status == "firing" }
      try #require(page.alerts.count == 1)
      #expect(page.alerts[0]["labels"]?["alertname"] == .string("ReachdTargetNotReachable"))
      #expect(page.alerts[0]["labels"]?["team"] == .string("storage"))
      #expect(page.alerts[0]["annotations"]?["layer"] == .string("tcp"))
      #expect(page.alerts[0]["annotations"]?["reason"] == .string("tcp_refused"))
      #expect(page.alerts[0]["annotations"]?["targets"] == .string("db"))
      let event = try await pager.receiver.await("the event") { $0.body["event_action"]?.text == "trigger" }
      let payload = event.body["payload"]
      #expect(payload?["summary"] == .string("db is NotReachable from 127.0.0.1:10120: tcp_refused"))
      let text = try #require(payload?["custom_details"]?["text"]?.text)
      for line in ["layer: tcp", "reason: tcp_refused", "targets: db", "see docs/alerts.md#reachdtargetnotreachable"] {
        #expect(text.split(separator: "\n").contains(Substring(line)), "\(text)")
      }

      port.open()
      _ = try await pager.receiver.await("the end") { $0.path == "/page" && $0.status == "resolved" }
      _ = try await pager.receiver.await("the event's end") { $0.body["event_action"]?.text == "resolve" }
      try await pager.expectOnly(["firing", "resolved"])
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("an agent that is killed is one page, and not its targets; one that is restarted is none")
  func absence() async throws {
    try await withNetworkNamespace { loop, _ in
      let folder = try TestFolder()
      let (open, closed) = (try TestPort(.open), try FlappingPort())
      let configuration = """
        state_dir: \(folder.path)/state
        defaults: { interval: 200ms, timeout: 150ms }
        targets:
          - { name: up, address: 127.0.0.1, port: \(open.number) }
          - { name: soon, address: 127.0.0.1, port: \(closed.number) }
        """
      closed.open()
      let first = try await RunningAgent.start(configuration, port: 10120, on: loop)
      try await first.awaitReady()
      let pager = try await Pager.start(on: loop)
      _ = try await pager.prometheus.awaitResult(of: "up") { $0["value"]?[1]?.text == "1" }

      #expect(try await first.stop() == 0)
      let second = try await RunningAgent.start(configuration, port: 10120, on: loop)
      _ = try await pager.prometheus.awaitResult(of: "changes(process_start_time_seconds[5m])") {
        $0["value"]?[1]?.text == "1"
      }

      // A target that is about to be an alert when the agent goes is none any more.
      closed.close()
      _ = try await pager.prometheus.awaitRule("ReachdTargetNotReachable", state: "pending")
      second.process.send(SIGKILL)
      let page = try await pager.receiver.await("the page") { $0.status == "firing" }
      #expect(page.path == "/page")
      #expect(page.alerts.count == 1)
      #expect(page.names == ["ReachdAbsent"])
      #expect(page.alerts.first?["labels"]?["instance"] == .string("127.0.0.1:10120"))

      closed.open()
      let third = try await RunningAgent.start(configuration, port: 10120, on: loop)
      _ = try await pager.receiver.await("the end") { $0.status == "resolved" }
      try await pager.expectOnly(["firing", "resolved"])
      #expect(try await third.stop() == 0)
      withExtendedLifetime(open) {}
    }
  }

  @Test("a configuration that cannot be loaded is a ticket and no page, and ends when it is mended")
  func reload() async throws {
    try await withNetworkNamespace { loop, _ in
      let agent = try await RunningAgent.start("targets: [127.0.0.1]", port: 10120, on: loop)
      try await agent.awaitReady()
      let pager = try await Pager.start(on: loop)
      #expect(try await agent.reload("targets: [127.1]").status == 500)
      let ticket = try await pager.receiver.await("the ticket") { $0.status == "firing" }
      #expect(ticket.path == "/ticket")
      #expect(ticket.names == ["ReachdReloadFailed"])
      #expect(ticket.alerts.first?["annotations"]?["description"]?.text?.contains("reachd check") == true)
      #expect(try await agent.reload("targets: [127.0.0.1]").status == 200)
      _ = try await pager.receiver.await("the end") { $0.status == "resolved" }
      try await pager.expectOnly(["firing", "resolved"])
      #expect(try await agent.stop() == 0)
    }
  }
}
