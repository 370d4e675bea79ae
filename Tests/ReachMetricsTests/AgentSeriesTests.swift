import ReachCore
import ReachMetrics
import Testing

@Suite struct AgentSeriesTests {
  @Test("the host, the agent and the process, in the order of the reference")
  func agent() throws {
    var agent = ExpositionTests.agent
    agent.plugins = [("tcp", "0.1.0"), ("link", "0.1.0")]
    agent.isLastReloadSuccessful = true
    agent.lastReloadSuccess = 1_700_000_000_500_000_000
    agent.roundsSkipped = 3
    agent.recordNetlinkMessage(type: "RTM_NEWROUTE")
    agent.recordNetlinkMessage(type: "RTM_NEWLINK", count: 4)
    agent.netlinkOverruns = 1
    agent.netlinkResyncs = 1
    agent.logDropped = 9
    agent.stateLost = 2
    agent.moduleUnknown = 7
    agent.sources = [
      SourceSeries(source: "t/*.json", targets: 3, failures: 1, lastSuccess: 1_700_000_000_900_000_000),
      SourceSeries(source: "http://sd.example/", targets: 0, failures: 4, lastSuccess: nil),
    ]
    agent.recordRequest(path: "/metrics", code: 200)
    agent.recordRequest(path: "/metrics", code: 200)
    agent.recordRequest(path: "/", code: 404)
    agent.scheduleLag.record(.milliseconds(2))
    var process = ProcessSample()
    process.cpu = 1_250_000_000
    process.residentBytes = 12_345_678
    process.startTime = 1_700_000_000_000_000_000
    process.threads = 1
    let links = [
      LinkSample(interface: "wlan0", medium: .wifi, operState: .lowerLayerDown, isUp: false),
      LinkSample(interface: "eth0", medium: .wired, operState: .up, isUp: true, carrierChanges: 7),
    ]
    let text = try ExpositionTests.text([], agent: agent, links: links, process: process)
    let lines = text.split(separator: "\n").filter { !$0.hasPrefix("#") && !$0.contains("_bucket") }
    #expect(
      lines.joined(separator: "\n") == #"""
        reachability_link_up{interface="eth0"} 1
        reachability_link_up{interface="wlan0"} 0
        reachability_link_info{interface="eth0",medium="wired",operstate="up"} 1
        reachability_link_info{interface="wlan0",medium="wifi",operstate="lowerlayerdown"} 1
        reachability_link_carrier_changes_total{interface="eth0"} 7
        reachd_build_info{version="0.1.0",revision="abc",swift="6.3"} 1
        reachd_plugin_info{plugin="link",version="0.1.0"} 1
        reachd_plugin_info{plugin="tcp",version="0.1.0"} 1
        reachd_config_last_reload_successful 1
        reachd_config_last_reload_success_timestamp_seconds 1700000000.5
        reachd_targets 0
        reachd_discovery_targets{source="t/*.json"} 3
        reachd_discovery_targets{source="http://sd.example/"} 0
        reachd_discovery_failures_total{source="t/*.json"} 1
        reachd_discovery_failures_total{source="http://sd.example/"} 4
        reachd_discovery_last_success_timestamp_seconds{source="t/*.json"} 1700000000
        reachd_schedule_lag_seconds_sum 0.002
        reachd_schedule_lag_seconds_count 1
        reachd_rounds_skipped_total 3
        reachd_netlink_messages_total{type="RTM_NEWLINK"} 4
        reachd_netlink_messages_total{type="RTM_NEWROUTE"} 1
        reachd_netlink_overruns_total 1
        reachd_netlink_resyncs_total 1
        reachd_log_dropped_total 9
        reachd_state_lost_total 2
        reachd_module_unknown_total 7
        reachd_http_requests_total{path="/",code="404"} 1
        reachd_http_requests_total{path="/metrics",code="200"} 2
        reachd_event_to_status_seconds_sum 0
        reachd_event_to_status_seconds_count 0
        process_cpu_seconds_total 1.25
        process_resident_memory_bytes 12345678
        process_start_time_seconds 1700000000
        process_threads 1
        """#)
    #expect(text.contains("reachd_schedule_lag_seconds_bucket{le=\"0.001\"} 0\n"))
    #expect(text.contains("reachd_schedule_lag_seconds_bucket{le=\"0.0025\"} 1\n"))
  }

  @Test("this process's own figures can be had")
  func process() {
    let sample = ProcessSample.current()
    #expect((sample.cpu ?? -1) >= 0)
    #expect((sample.residentBytes ?? 0) > 1_000_000)
    #expect((sample.openDescriptors ?? 0) > 2)
    #expect((sample.maxDescriptors ?? 0) > 2)
    #expect((sample.startTime ?? 0) > 1_600_000_000_000_000_000)
    #expect((sample.threads ?? 0) > 0)
  }

  @Test("requests for ever more paths cost a bounded number of series")
  func bounded() {
    var agent = ExpositionTests.agent
    for number in 0..<1000 { agent.recordRequest(path: "/\(number)", code: 200) }
    let text = try? ExpositionTests.text([], agent: agent)
    let lines = text?.split(separator: "\n").filter { $0.hasPrefix("reachd_http_requests_total") } ?? []
    #expect(lines.count == 257)
    #expect(lines.contains(#"reachd_http_requests_total{path="other",code="200"} 744"#))
  }
}
