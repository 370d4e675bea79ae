import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The image, built from `deploy/container/Dockerfile` by buildah and run by crun.
@Suite(
  .serialized, .enabled(if: ContainerImage.isAvailable, "\(ContainerImage.requirement)"), .timeLimit(.minutes(5)))
struct ContainerTests {
  /// As the image has it, at a faster pace, and with what the network of the test has.
  private static let configuration = """
    defaults: { interval: 500ms, timeout: 400ms }
    targets:
      - default
      - { name: gateway, address: \(StageAddress.gateway) }
      - { name: self, address: 127.0.0.1, port: 10120 }
      - { name: uplink, interface: veth0 }
    web: { listen: [":10120"] }
    state_dir: /var/lib/reachd
    """

  private static func awaitStatus(_ status: String, of name: String, in container: RunningContainer) async throws {
    try await eventually("\(name) to be \(status)", on: container.client.loop, state: { container.log }) {
      let targets = try await container.client.json("/api/v1/targets").elements
      return targets.first { $0["target"]?.text == name }?["status"]?.text == status ? () : nil
    }
  }

  @Test("without a capability, on a root that cannot be written, it gives the verdicts that it gives outside")
  func verdicts() async throws {
    try await withNetworkNamespace { loop, stage in
      let gateway = try stage.stageGateway()
      let container = try await RunningContainer.start(Self.configuration, on: loop)
      for name in ["default", "gateway", "self", "uplink"] {
        try await Self.awaitStatus("ReachableViaWiFi", of: name, in: container)
      }
      try gateway.ip("link set veth1 down")
      for name in ["default", "gateway", "uplink"] {
        try await Self.awaitStatus("NotReachable", of: name, in: container)
      }
      let gone = try await container.client.json("/api/v1/targets").elements.first { $0["target"]?.text == "uplink" }
      #expect(gone?["reason"]?.text == "carrier_lost")
      try gateway.ip("link set veth1 up")
      try await Self.awaitStatus("ReachableViaWiFi", of: "gateway", in: container)

      // Every backend is loaded, state is kept, and there is nothing that the agent lacks.
      for plugin in ["link", "route", "dns", "tcp"] {
        #expect(container.log.contains("\"event\":\"plugin_loaded\",\"message\":\"the backend \(plugin) "))
      }
      #expect(!container.log.contains("plugin_rejected") && !container.log.contains("self_check"), "\(container.log)")
      #expect(container.keepsState("state.db"))
      try container.send(SIGTERM)
      #expect(try await container.exitStatus(within: .seconds(2)) == 0)
    }
  }

  @Test("the process has no rights: it is nobody, with no capability, a filter of system calls, and no way to more")
  func rights() async throws {
    try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let container = try await RunningContainer.start(Self.configuration, on: loop)
      let status = try textOfFile("/proc/\(try container.agentProcess())/status").split(separator: "\n")
      let fields = Dictionary(
        status.compactMap { line -> (String, String)? in
          let words = line.split(whereSeparator: { $0 == ":" || $0.isWhitespace }).map(String.init)
          return words.count > 1 ? (words[0], words[1]) : nil
        }, uniquingKeysWith: { first, _ in first })
      #expect(fields["Uid"] == "65532" && fields["Gid"] == "65532")
      for kind in ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"] { #expect(fields[kind] == "0000000000000000") }
      #expect(fields["NoNewPrivs"] == "1" && fields["Seccomp"] == "2")
      #expect(fields["Threads"].flatMap { Int($0) } ?? 99 <= 3)
      print("resident memory in the container: \(fields["VmRSS"] ?? "?") kB, RssAnon \(fields["RssAnon"] ?? "?") kB")
    }
  }

  @Test("its health check is 0 while it answers, and 1 when it does not")
  func health() async throws {
    let words = try ContainerImage.configuration().at("Healthcheck.Test")?.elements.compactMap(\.text) ?? []
    try #require(words.first == "CMD")
    try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let container = try await RunningContainer.start(Self.configuration, on: loop)
      let healthy = try await container.execute(Array(words.dropFirst()))
      #expect(healthy.status == 0, "\(healthy.output)")
      try container.send(SIGSTOP)
      let hung = try await container.execute(Array(words.dropFirst()))
      #expect(hung.status == 1, "\(hung.output)")
      try container.send(SIGCONT)
      try container.send(SIGTERM)
      #expect(try await container.exitStatus(within: .seconds(4)) == 0)
    }
  }

  @Test("as process 1 it takes in the processes that lost their parents")
  func orphans() async throws {
    try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let container = try await RunningContainer.start(Self.configuration, on: loop)
      let agent = try container.agentProcess()
      let children = "/proc/\(agent)/task/\(agent)/children"
      // A shell of this machine among the container's processes: its child is left to process 1, and ends at once.
      for _ in 0..<20 {
        let orphan = try runProgram(["nsenter", "--target", "\(agent)", "--pid", "--", "sh", "-c", "cat </dev/null &"])
        #expect(orphan.isSuccess, "\(orphan.output)")
      }
      try await eventually("the orphans' end", on: loop, state: { (try? textOfFile(children)) ?? "" }) {
        try textOfFile(children).allSatisfy(\.isWhitespace) ? () : nil
      }
      #expect(try await container.client.get("/-/healthy").status == 200)
    }
  }
}
