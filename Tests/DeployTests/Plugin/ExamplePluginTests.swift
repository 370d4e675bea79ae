import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// A backend that is kept elsewhere, built by the commands of its README, in the agent.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"),
  .enabled(if: ExamplePlugin.isAvailable, "\(ExamplePlugin.requirement)"), .timeLimit(.minutes(5)))
struct ExamplePluginTests {
  private static func settings(_ configuration: String = "debug") -> String {
    """
    plugin_path: ["\(Reachd.folder)", "\(ExamplePlugin.folder(configuration))"]
    backends: { link: {}, route: {}, dns: {}, tcp: {}, greeting: { timeout: 800ms } }
    defaults: { interval: 1s, timeout: 900ms }
    """
  }

  @Test("its own tests pass, the conformance suite among them")
  func ownTests() async throws {
    try await withEventLoop { loop in
      let test = try ChildProcess(
        [
          "env", "REACHD_SOURCES=\(Reachd.sources)", "swift", "test", "--build-system", "native", "--skip-build",
          "--package-path", ExamplePlugin.package,
        ], on: loop)
      let status = try await test.exitStatus(within: .seconds(240))
      #expect(status == 0, "\(test.failure("").description)")
      #expect(test.output.contains("stands what every backend must stand"))
    }
  }

  @Test(
    "reachd plugins lists it with its options, in whatever configuration it was built", arguments: ["debug", "release"])
  func listed(configuration: String) async throws {
    let folder = try TestFolder()
    let file = try folder.write(Self.settings(configuration) + "\ntargets: [127.0.0.1]\n", to: "reachd.yaml")
    let listing = try await Reachd.run("plugins", "--json", "--config", file)
    #expect(listing.status == 0, "\(listing.output)\(listing.errors)")
    let plugins = try JSON(parsing: listing.output).elements
    #expect(plugins.compactMap { $0["name"]?.text } == ["dns", "greeting", "link", "route", "tcp"])
    let greeting = try #require(plugins.first { $0["name"]?.text == "greeting" })
    #expect(greeting["layer"]?.text == "tcp" && greeting["version"]?.text == "1.0.0")
    #expect(greeting["options"]?.elements.compactMap { $0["name"]?.text } == ["port", "starts_with"])
  }

  @Test("its example is a valid configuration, and a mistake in its options is named with its line")
  func configuration() async throws {
    let folder = try TestFolder()
    let example = try Repository.text("Examples/GreetingProbe/example.yaml")
    let path = "plugin_path: [\"\(Reachd.folder)\", \"\(ExamplePlugin.folder("debug"))\"]\n"
    let file = try folder.write(path + example, to: "reachd.yaml")
    let valid = try await Reachd.run("check", "--config", file)
    #expect(valid.status == 0 && valid.errors == "", "\(valid.errors)")
    let wrong = try folder.write(
      path
        + "backends: { greeting: {} }\ntargets:\n  - { name: a, host: a.example, probes: [greeting: { start_with: x }] }\n",
      to: "wrong.yaml")
    let refused = try await Reachd.run("check", "--config", wrong)
    #expect(refused.status == 1)
    #expect(refused.errors.contains("wrong.yaml:4:") && refused.errors.contains("starts_with"), "\(refused.errors)")
  }

  @Test(
    "a service that accepts and has hung is NotReachable, though its port is open, and reachable again when it greets")
  func hung() async throws {
    for configuration in ["debug", "release"] {
      try await withNetworkNamespace { loop, stage in
        let (_, server) = try stage.stageRouterAndServer()
        let service = try server.perform {
          try GreetingService(saying: "SSH-2.0-OpenSSH_9.2\r\n", on: StageAddress.server, loop: loop)
        }
        let other = try server.perform {
          try GreetingService(saying: "220 mail\r\n", on: StageAddress.server6, loop: loop)
        }
        let probes = "probes: [link, route, tcp, greeting: { starts_with: \"SSH-2.0-\" }]"
        let agent = try await RunningAgent.start(
          Self.settings(configuration) + """

            targets:
              - { name: ssh, address: 198.51.100.2, port: \(service.port.number), \(probes) }
              - { name: other, address: "2001:db8:1::2", port: \(other.port.number), \(probes) }
            """, on: loop)
        let up = try await agent.awaitStatus("ReachableViaWiFi", of: "ssh")
        #expect(up["flags"] == .string("-R -------"))
        #expect(up["reason"] == .string("tcp_open"))
        let wrong = try await agent.awaitStatus("NotReachable", of: "other")
        #expect(wrong["reason"] == .string("tcp_refused"))
        service.hang(true)
        let down = try await agent.awaitStatus("NotReachable", of: "ssh")
        #expect(down["reason"] == .string("tcp_timeout"))
        let metrics = try await agent.client.metrics()
        #expect(metrics.values("reachability_probe_success", ["target": "ssh", "probe": "tcp"]) == [1])
        #expect(metrics.values("reachability_probe_success", ["target": "ssh", "probe": "greeting"]) == [0])
        #expect(metrics.values("reachability_status", ["target": "ssh", "status": "NotReachable"]) == [1])
        #expect(metrics.values("reachd_plugin_info", ["plugin": "greeting", "version": "1.0.0"]) == [1])
        service.hang(false)
        _ = try await agent.awaitStatus("ReachableViaWiFi", of: "ssh")
        #expect(try await agent.stop() == 0)
      }
    }
  }

  @Test("what this host may not do is Unknown and no fault of the target, and the log says what to do")
  func permission() async throws {
    try await withNetworkNamespace { loop, stage in
      let service = try GreetingService(saying: "220 mail\r\n", on: .loopback, loop: loop)
      let agent = try await RunningAgent.start(
        Self.settings() + """

          targets:
            - name: marked
              address: 127.0.0.1
              port: \(service.port.number)
              source: { mark: 7 }
              probes: [greeting]
          """, under: ["setpriv", "--bounding-set=-net_admin,-net_raw", "--inh-caps=-all"], on: loop)
      let target = try await agent.awaitStatus("Unknown", of: "marked")
      let line = try await agent.awaitLine("self_check") { $0["check"]?.text == "permission" }
      #expect(line["remedy"]?.text?.contains("CAP_NET_RAW") == true, "\(line)")
      #expect(try await agent.target("marked")?["reason"] == .string("probe_error:EPERM"), "\(target)")
      #expect(try await agent.stop() == 0)
    }
  }
}
