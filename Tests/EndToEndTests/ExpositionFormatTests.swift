import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The formats of `/metrics`, as a running agent serves them and other people's programs read them.
@Suite(.timeLimit(.minutes(5)))
struct ExpositionFormatTests {
  private static func configuration(port: UInt16, interval: String = "200ms") -> String {
    """
    defaults: { interval: \(interval) }
    targets:
      - 127.0.0.1
      - { name: open, address: 127.0.0.1, port: \(port), labels: { note: "a \\"b\\" \\\\ é" } }
      - { name: closed, address: 127.0.0.1, port: 1 }
    """
  }

  @Test(
    "prometheus_client reads a scrape in both text formats, and finds the same series",
    .enabled(if: PythonPackages.areAvailable, "\(PythonPackages.requirement)"))
  func parsed() async throws {
    let (text, openMetrics) = try await withEventLoop { loop in
      let port = try TestPort(.open)
      // One round and no more, so that nothing changes from one scrape to the other.
      let configuration = Self.configuration(port: port.number, interval: "1h")
      let agent = try await RunningAgent.start(configuration, on: loop)
      try await agent.awaitReady()
      let text = try await agent.client.get("/metrics")
      let wanted = "application/openmetrics-text;version=1.0.0,text/plain;q=0.5"
      defer { withExtendedLifetime(port) {} }
      return (text, try await agent.client.get("/metrics", headers: ["Accept: \(wanted)"]))
    }
    #expect(text.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
    #expect(openMetrics.headers["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
    #expect(text.headers["vary"] == "Accept, Accept-Encoding")
    let old = try PythonParsers.parse(text.body, openMetrics: false).samples
    let new = try PythonParsers.parse(openMetrics.body, openMetrics: true).samples
    // What the host and the agent do meanwhile is not for a test to say.
    func series(_ samples: [ExpositionSample]) -> Set<ExpositionSample> {
      Set(
        samples.filter { $0.labels["target"] != nil }
          .map { ExpositionSample(name: $0.name, labels: $0.labels, value: 0) })
    }
    #expect(series(old).symmetricDifference(series(new)) == [])
    #expect(series(old).count > 100)
    #expect(new.contains { $0.labels["note"] == "a \"b\" \\ é" })
  }

  @Test("protocol buffers come with their content type, a refusal of all is 406")
  func negotiated() async throws {
    try await withEventLoop { loop in
      let agent = try await RunningAgent.start("targets: [ 127.0.0.1 ]", on: loop)
      let protobuf = "application/vnd.google.protobuf; proto=io.prometheus.client.MetricFamily; encoding=delimited"
      let answer = try await agent.client.get("/metrics", headers: ["Accept: \(protobuf)"])
      #expect(answer.status == 200 && answer.headers["content-type"] == protobuf)
      let refused = try await agent.client.get("/metrics", headers: ["Accept: */*;q=0"])
      #expect(refused.status == 406)
      #expect(refused.headers["vary"]?.hasPrefix("Accept") == true)
    }
  }

  @Test(
    "Prometheus scrapes OpenMetrics: it knows units and infos, and keeps exemplars",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
    .enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"))
  func openMetrics() async throws {
    try await withNetworkNamespace { loop, _ in
      let port = try TestPort(.open)
      let agent = try await RunningAgent.start(Self.configuration(port: port.number), port: 10120, on: loop)
      try await agent.awaitReady()
      let prometheus = try await Prometheus.start(enabling: ["exemplar-storage"], on: loop)
      let unit = try await prometheus.awaitData("/api/v1/metadata?metric=reachability_probe_duration_seconds") {
        $0["reachability_probe_duration_seconds"]?[0]?["unit"]?.text
      }
      #expect(unit == "seconds")
      let type = try await prometheus.awaitData("/api/v1/metadata?metric=reachability_path") {
        $0["reachability_path"]?[0]?["type"]?.text
      }
      #expect(type == "info")
      try await Self.checkExemplars(of: "reachability_probe_duration_seconds_bucket", in: prometheus)
      _ = try await prometheus.awaitResult(
        of: "rate(reachability_probe_runs_total{target=\"open\",outcome=\"success\",probe=\"tcp\"}[5s])"
      ) { ($0["value"]?[1]?.text.flatMap(Double.init) ?? 0) > 0 }
      withExtendedLifetime(port) {}
    }
  }

  @Test(
    "Prometheus with native histograms gets them, and computes quantiles of them",
    .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
    .enabled(if: Prometheus.isAvailable, "needs Debian's package prometheus"))
  func native() async throws {
    try await withNetworkNamespace { loop, _ in
      let port = try TestPort(.open)
      let agent = try await RunningAgent.start(Self.configuration(port: port.number), port: 10120, on: loop)
      try await agent.awaitReady()
      let prometheus = try await Prometheus.start(enabling: ["native-histograms", "exemplar-storage"], on: loop)
      // Without a bucket in its name it is a native one.
      let quantile = try await prometheus.awaitResult(
        of: "histogram_quantile(0.5, rate(reachability_probe_duration_seconds{target=\"open\"}[5s]))"
      ) { ($0["value"]?[1]?.text.flatMap(Double.init) ?? 0) > 0 }
      let seconds = try #require(quantile["value"]?[1]?.text.flatMap(Double.init))
      #expect(seconds < 0.2)
      _ = try await prometheus.awaitResult(of: "histogram_count(reachd_schedule_lag_seconds)") {
        ($0["value"]?[1]?.text.flatMap(Double.init) ?? 0) > 0
      }
      try await Self.checkExemplars(of: "reachability_probe_duration_seconds", in: prometheus)
      let up = try await prometheus.awaitResult(of: "reachability_status{target=\"open\",status=\"ReachableViaWiFi\"}")
      {
        $0["value"]?[1]?.text == "1"
      }
      #expect(up["metric"]?["note"] == .string("a \"b\" \\ é"))
      withExtendedLifetime(port) {}
    }
  }

  /// Waits until Prometheus has the exemplars of the connections to both ports: where to, how long, when, and why not.
  private static func checkExemplars(of name: String, in prometheus: Prometheus) async throws {
    for (target, reason) in [("open", nil), ("closed", "tcp_refused")] {
      let query = percentEncoded("\(name){target=\"\(target)\",probe=\"tcp\"}")
      let exemplar = try await prometheus.awaitData("/api/v1/query_exemplars?query=" + query) {
        $0.elements.flatMap { $0["exemplars"]?.elements ?? [] }.first
      }
      #expect(exemplar["labels"]?["address"] == .string("127.0.0.1"))
      #expect(exemplar["labels"]?["reason"]?.text == reason)
      let seconds = try #require(exemplar["value"]?.text.flatMap(Double.init))
      #expect(seconds > 0 && seconds < 1)
      let age = Double(WallClock.nanosecondsSinceEpoch()) / 1e9 - (exemplar["timestamp"]?.number ?? 0)
      #expect(age >= 0 && age < 120)
    }
  }
}
