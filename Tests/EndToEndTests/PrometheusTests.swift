import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// Debian's own Prometheus scrapes the running agent, and alerts by the rules that are delivered with it.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"), .timeLimit(.minutes(5)))
struct PrometheusTests {
  @Test("the delivered files are valid")
  func files() throws {
    let rules = try runProgram(["promtool", "check", "rules", Prometheus.delivered + "/reachd.rules.yml"])
    #expect(rules.isSuccess, "\(rules.output)")
    let config = try runProgram(["promtool", "check", "config", Prometheus.delivered + "/prometheus.yml"])
    #expect(config.isSuccess, "\(config.output)")
  }

  @Test("a link that is cut makes the delivered rule fire with layer and reason, and its return ends that")
  func alert() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      // The port of the delivered configuration is free in here.
      let agent = try await RunningAgent.start(
        """
        defaults: { interval: 500ms, timeout: 400ms }
        targets:
          - default
          - 127.0.0.1
          - { name: gateway, address: \(StageAddress.gateway), labels: { site: fra1 } }
          - { name: uplink, interface: veth0 }
        """, port: 10120, on: loop)
      try await agent.awaitReady()
      let exposition = try await agent.client.get("/metrics").body
      let verdict = try runProgram(["promtool", "check", "metrics"], input: exposition)
      #expect(verdict.isSuccess, "\(verdict.output)")

      let prometheus = try await Prometheus.start(on: loop)
      let up = try await prometheus.awaitResult(
        of: "reachability_status{target=\"gateway\",status=\"ReachableViaWiFi\"}"
      ) { $0["value"]?[1]?.text == "1" }
      #expect(up["metric"]?["site"] == .string("fra1"))
      #expect(up["metric"]?["job"] == .string("reachd"))
      _ = try await prometheus.awaitRule("ReachdCauseNotReachable", state: "inactive")

      try gateway.ip("link set veth1 down")
      let alerts = try await prometheus.awaitRule("ReachdCauseNotReachable", state: "firing")
      #expect(alerts.count == 1)
      #expect(alerts.first?["labels"]?["cause"] == .string("link:veth0"))
      #expect(alerts.first?["annotations"]?["layer"] == .string("link"))
      #expect(alerts.first?["annotations"]?["reason"] == .string("carrier_lost"))
      // Not 127.0.0.1, which no cable leads to.
      #expect(alerts.first?["annotations"]?["targets"] == .string("default, gateway, uplink"))
      #expect(alerts.first?["annotations"]?["summary"]?.text?.contains("link:veth0") == true)
      // The cause is the alert of them all.
      _ = try await prometheus.awaitRule("ReachdTargetNotReachable", state: "inactive")
      let changed = try await agent.awaitLine("status_changed", target: "gateway")
      Self.check(changed)

      try gateway.ip("link set veth1 up")
      _ = try await prometheus.awaitRule("ReachdCauseNotReachable", state: "inactive")
      let transitions = try await prometheus.awaitResult(
        of: "reachability_transitions_total{target=\"gateway\",to=\"ReachableViaWiFi\"}"
      ) { $0["value"]?[1]?.text == "1" }
      #expect(transitions["metric"]?["target"] == .string("gateway"))
      #expect(try await agent.stop() == 0)
      // The agent gone is an alert of its own.
      _ = try await prometheus.awaitRule("ReachdAbsent", state: "firing")
    }
  }

  /// The line that the cut link makes.
  private static func check(_ line: JSON) {
    #expect(
      line.names == [
        "time", "level", "event", "message", "target", "from", "to", "flags", "flags_value", "layer", "reason",
        "interface", "medium", "address", "sequence", "in_previous_seconds", "labels", "cause_id",
      ])
    #expect(line["level"] == .string("warning"))
    #expect(line["from"] == .string("ReachableViaWiFi"))
    #expect(line["to"] == .string("NotReachable"))
    #expect(line["flags"] == .string("-- -------"))
    #expect(line["flags_value"] == .number(0))
    #expect(line["layer"] == .string("link"))
    #expect(line["reason"] == .string("carrier_lost"))
    #expect(line["interface"] == .string("veth0"))
    #expect(line["medium"] == .string("wired"))
    #expect((line["sequence"]?.number ?? 0) > 0)
    #expect((line["in_previous_seconds"]?.number ?? -1) >= 0)
    #expect(line["labels"]?["site"] == .string("fra1"))
  }
}
