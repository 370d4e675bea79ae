import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// A ConfigMap that is mounted as a folder, exchanged below a running agent as the kubelet does it: the files are in a
/// folder of their own, `..data` leads to it, and is renamed to lead to the next one.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(5)))
struct LiveReloadTests {
  private static func put(_ text: String, as version: Int, into folder: TestFolder) throws {
    try folder.makeFolder("..\(version)")
    try folder.write(text, to: "..\(version)/reachd.yaml")
    try folder.link("..data_tmp", to: "..\(version)")
    try folder.rename("..data_tmp", to: "..data")
  }

  /// A delivered file, with the state in a folder of the test's own.
  private static func delivered(_ path: String, stateIn folder: TestFolder) throws -> String {
    let parts = try Repository.text("deploy/kubernetes/" + path).split(
      separator: "state_dir: /var/lib/reachd", omittingEmptySubsequences: false)
    try #require(parts.count == 2)
    return parts.joined(separator: "state_dir: " + folder.path)
  }

  @Test("an exchanged ConfigMap takes effect without a restart, and a broken one changes nothing")
  func exchange() async throws {
    try await withNetworkNamespace { loop, stage in
      _ = try stage.stageGateway()
      let state = try TestFolder()
      let volume = try TestFolder()
      try Self.put(Self.delivered("base/node/reachd.yaml", stateIn: state), as: 1, into: volume)
      try volume.link("reachd.yaml", to: "..data/reachd.yaml")

      // As the DaemonSet has it: the file says nothing of where to listen.
      let agent = try ChildProcess(
        [Reachd.program, "run", "--config", volume.path + "/reachd.yaml", "--listen", "127.0.0.1:10120"], on: loop)
      let client = HTTPClient(address: .loopback, port: 10120, loop: loop)
      func awaitTargets(_ names: [String]) async throws {
        try await eventually("\(names)", on: loop, state: { agent.errors }) {
          guard agent.isRunning else { throw agent.failure("ended") }
          let targets = try? await client.json("/api/v1/targets").elements.compactMap { $0["target"]?.text }
          return targets == names ? () : nil
        }
      }
      try await awaitTargets(["default"])

      try Self.put("targets: [default, 127.1]\n", as: 2, into: volume)
      try await eventually("the refusal", on: loop, state: { agent.errors }) {
        try await client.metrics().value("reachd_config_last_reload_successful") == 0 ? () : nil
      }
      try await awaitTargets(["default"])

      try Self.put(Self.delivered("overlays/example/reachd.yaml", stateIn: state), as: 3, into: volume)
      try await awaitTargets(["default", "registry", "storage"])
      #expect(try await client.metrics().value("reachd_config_last_reload_successful") == 1)
      agent.send(SIGTERM)
      #expect(try await agent.exitStatus() == 0)
    }
  }
}
