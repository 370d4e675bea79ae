import Glibc
import ReachCore
import ReachIO
import ReachTestSupport

@testable import EndToEndTools

/// An agent to which all happened that the dashboards tell of, bad news above all, and a Prometheus that scraped it all
/// the while.
///
/// There is a name server and a service behind a router, a second link that counts as cellular, and a third one for a
/// target that is held. At the end the router's link is cut.
final class StagedFleet: Sendable {
  let agent: RunningAgent
  let prometheus: Prometheus
  /// When Prometheus began, in Unix time.
  let start: Int
  private let held: [any Sendable]

  private static let zone = """
    $ORIGIN reachd.test.
    $TTL 300
    @   IN SOA ns hostmaster 1 3600 600 86400 60
    @   IN NS  ns
    ns  IN A   198.51.100.2
    www IN A   198.51.100.2

    """

  /// The agent's configuration. Where the state is kept must be a folder that outlives it.
  private static func configuration(service: UInt16, flapping: UInt16, closed: UInt16, state: String) -> String {
    """
    defaults: { interval: 250ms, timeout: 200ms, fall: 1 }
    state_dir: \(state)
    wwan_interfaces: [backup]
    targets:
      - default
      - { name: uplink, interface: veth0, labels: { team: network } }
      - { name: gateway, address: 192.0.2.254, labels: { team: network } }
      - { name: held, interface: spare, hold: 10m }
      - { name: 'closed (1+1)', address: 127.0.0.1, port: \(closed) }
      - { name: undecided, address: 127.0.0.1, port: \(closed), fall: 1000000 }
      - { name: flapping, address: 127.0.0.1, port: \(flapping) }
      - { name: moved, address: 203.0.113.200 }
      - { name: db, address: 198.51.100.2, port: \(service), labels: { team: storage } }
      - name: web
        host: www.reachd.test
        port: \(service)
        labels: { team: storage }
        probes: [ link, route, { dns: { server: 198.51.100.2 } }, tcp ]
    targets_from: [ { file: 't/*.json' } ]
    modules: { connect: { backend: tcp } }
    """
  }

  /// One agent that runs and one that does not.
  private static let scraping = """
    global: { scrape_interval: 500ms }
    scrape_configs:
      - job_name: reachd
        static_configs: [ { targets: [ "127.0.0.1:10120", "127.0.0.1:10121" ] } ]
    """

  /// Lets it all happen, with these features of Prometheus on; takes about fifteen seconds.
  init(_ stage: NetworkStage, enabling features: [String], on loop: EventLoop) async throws {
    let (router, server) = try stage.stageRouterAndServer()
    try stage.addBackupLink(to: router)
    try stage.join(stage.host, "spare", to: router, "spare1")
    let nsd = try NameServer(zone: Self.zone, at: "198.51.100.2", in: server, on: loop)
    let service = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
    let closed = try TestPort(.closed)
    let flapping = try FlappingPort()
    let state = try TestFolder()
    agent = try await RunningAgent.start(
      Self.configuration(
        service: service.number, flapping: flapping.number, closed: closed.number, state: state.path + "/state"),
      port: 10120, on: loop)
    for name in ["web", "db", "held"] { _ = try await agent.awaitStatus("ReachableViaWiFi", of: name) }
    _ = try await agent.awaitStatus("ReachableViaWWAN", of: "moved")
    prometheus = try await Prometheus.start(Self.scraping, enabling: features, on: loop)
    held = [router, server, nsd, service, closed, flapping, state]
    let first = try await prometheus.awaitResult(of: "count_over_time(reachd_build_info[1m])") {
      ($0["value"]?[1]?.text.flatMap { Double($0) } ?? 0) >= 3
    }
    start = Int(first["value"]?[0]?.number ?? 0) - 1

    // What somebody asked of it.
    for query in ["module=connect&target=flapping", "module=nonsense&target=flapping"] {
      _ = try await agent.client.get("/probe?" + query)
    }
    // A list of targets, and one that is none.
    try agent.folder.makeFolder("t")
    try agent.folder.write(#"[ { "targets": [ "127.0.0.3" ] } ]"#, to: "t/good.json")
    _ = try await agent.awaitStatus("ReachableViaWiFi", of: "127.0.0.3")
    try agent.folder.write("{", to: "t/bad.json")
    _ = try await agent.awaitLine("discovery_failed")
    // A service that comes and goes, each time for long enough to be scraped.
    for _ in 0..<2 {
      flapping.open()
      try await seen("ReachableViaWiFi", of: "flapping")
      flapping.close()
      try await seen("NotReachable", of: "flapping")
    }
    // Another way, a link that is down but held, and messages of the kernel that were lost.
    try stage.ip("route add 203.0.113.200 dev veth0")
    _ = try await prometheus.awaitResult(of: "reachability_path_changes_total{target=\"moved\"} > 0") { _ in true }
    try router.ip("link set spare1 down")
    _ = try await prometheus.awaitResult(of: "reachability_flapping{target=\"held\"} == 1") { _ in true }
    try await overrun(stage)
    // A file that is refused.
    guard try await agent.reload("who: 1\n").status == 500 else { throw ProgramRefusal("the file was taken") }
    try router.ip("link set veth1 down")
    _ = try await prometheus.awaitResult(of: "count(reachability_cause_info{cause=\"link:veth0\"})") {
      ($0["value"]?[1]?.text.flatMap { Double($0) } ?? 0) >= 4
    }
  }

  private func seen(_ status: String, of target: String) async throws {
    let query = "reachability_status{target=\"\(target)\",status=\"\(status)\"} == 1"
    _ = try await prometheus.awaitResult(of: query) { _ in true }
  }

  /// More messages than the kernel keeps for an agent that does not get to run.
  private func overrun(_ stage: NetworkStage) async throws {
    agent.process.send(SIGSTOP)
    let routes = (0..<24_000).map { "route add 10.\($0 / 250).\($0 % 250).0/24 dev backup" }
    try stage.ip(routes.joined(separator: "\n"))
    agent.process.send(SIGCONT)
    _ = try await prometheus.awaitResult(of: "reachd_netlink_overruns_total > 0") { _ in true }
  }
}
