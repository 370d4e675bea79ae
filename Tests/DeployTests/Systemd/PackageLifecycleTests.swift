import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The package in a booted machine: what becomes of the agent, its state and its configuration when the package comes, is
/// followed by another, and goes.
@Suite(
  .serialized, .enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"),
  .enabled(if: DebianPackage.isAvailable, "\(DebianPackage.requirement)"))
struct PackageLifecycleTests {
  @Test(
    "versions follow each other, up and down, with the state and a changed configuration, and no transition",
    .timeLimit(.minutes(10)))
  func upgrade() async throws {
    try await withMachine { agent in
      try await agent.install(DebianPackage.path)
      try await agent.awaitProperty("ActiveState") { $0 == "active" }
      #expect(try await agent.property("UnitFileState") == "enabled")
      try agent.machine.write(Self.configuration, to: "/etc/reachd/reachd.yaml")
      try await agent.machine.succeed("systemctl", "reload", "reachd")
      try await agent.settle()
      let before = try await agent.verdicts()
      #expect(before.map(\.status) == ["NotReachable", "ReachableViaWiFi"])

      let newer = try RepackedPackage(version: "99.0")
      for package in [newer.path, DebianPackage.path] {
        let process = try await agent.property("MainPID")
        try await agent.install(package)
        try await agent.awaitProperty("MainPID") { $0 != process && $0 != "0" }
        try await agent.settle()
        #expect(try await agent.verdicts() == before)
        #expect(try await agent.lines("status_changed").isEmpty)
        #expect(try await agent.machine.succeed("cat", "/etc/reachd/reachd.yaml") == Self.configuration)
      }
      withExtendedLifetime(newer) {}
    }
  }

  @Test("an upgrade over a broken configuration does not take the running agent away", .timeLimit(.minutes(10)))
  func brokenConfiguration() async throws {
    try await withMachine { agent in
      try await agent.install(DebianPackage.path)
      try await agent.awaitProperty("ActiveState") { $0 == "active" }
      let process = try await agent.property("MainPID")
      try agent.machine.write("targets: [", to: "/etc/reachd/reachd.yaml")
      let newer = try RepackedPackage(version: "99.0")
      let said = try await agent.install(newer.path)
      #expect(said.contains("/etc/reachd/reachd.yaml:2:1: error:"), "\(said)")
      #expect(try await agent.property("MainPID") == process)
      #expect(try await agent.client.get("/-/healthy").status == 200)
      withExtendedLifetime(newer) {}
    }
  }

  @Test("an upgrade checks the file that a drop-in names, with the groups that it gives", .timeLimit(.minutes(10)))
  func dropIn() async throws {
    try await withMachine { agent in
      try await agent.install(DebianPackage.path)
      try await agent.awaitProperty("ActiveState") { $0 == "active" }
      try await agent.machine.succeed("groupadd", "--system", "watchers")
      try agent.machine.write(Self.configuration, to: "/etc/watched.yaml")
      try await agent.machine.succeed("chgrp", "watchers", "/etc/watched.yaml")
      try await agent.machine.succeed("chmod", "640", "/etc/watched.yaml")
      try await agent.machine.succeed("mkdir", "-p", "/etc/systemd/system/reachd.service.d")
      try agent.machine.write(
        """
        [Service]
        SupplementaryGroups=watchers
        ExecStart=
        ExecStart=/usr/bin/reachd run --config /etc/watched.yaml
        """, to: "/etc/systemd/system/reachd.service.d/own.conf")
      try agent.machine.write("targets: [", to: "/etc/reachd/reachd.yaml")
      try await agent.machine.succeed("systemctl", "daemon-reload")
      try await agent.machine.succeed("systemctl", "restart", "reachd")
      let process = try await agent.property("MainPID")
      let newer = try RepackedPackage(version: "99.0")
      try await agent.install(newer.path)
      try await agent.awaitProperty("MainPID") { $0 != process && $0 != "0" }
      withExtendedLifetime(newer) {}
    }
  }

  @Test(
    "nothing runs after a removal, all is as before after a reinstallation, and a purge leaves nothing",
    .timeLimit(.minutes(10)))
  func removal() async throws {
    try await withMachine { agent in
      try await agent.install(DebianPackage.path)
      try agent.machine.write(Self.configuration, to: "/etc/reachd/reachd.yaml")
      try await agent.machine.succeed("systemctl", "stop", "reachd.service")
      try await agent.machine.succeed("systemctl", "enable", "--now", "reachd.socket")
      try await agent.machine.succeed("systemctl", "start", "reachd.service")
      try await agent.settle()
      let before = try await agent.verdicts()

      try await agent.machine.succeed("dpkg", "--remove", "reachd")
      try await agent.expectNothingRuns()
      #expect(try await agent.machine.succeed("cat", "/etc/reachd/reachd.yaml") == Self.configuration)

      try await agent.install(DebianPackage.path)
      try await agent.awaitProperty("ActiveState") { $0 == "active" }
      try await agent.settle()
      #expect(try await agent.verdicts() == before)
      #expect(try await agent.lines("status_changed").isEmpty)

      try await agent.machine.succeed("dpkg", "--purge", "reachd")
      try await agent.expectNothingRuns()
      for path in ["/etc/reachd", "/var/lib/reachd", "/var/log/reachd", "/run/reachd", "/usr/lib/reachd"] {
        #expect(try await agent.machine.run(["test", "-e", path]).status == 1, "\(path)")
      }
      #expect(try await agent.machine.run(["getent", "passwd", "reachd"]).status == 2)
      let links = try await agent.machine.succeed("find", "/etc/systemd", "-name", "reachd*")
      #expect(links == "")
    }
  }

  private static let configuration = """
    defaults: { interval: 1s, timeout: 800ms }
    state_dir: /var/lib/reachd
    targets:
      - { name: down, address: 127.0.0.1, port: 1 }
      - { name: up, address: 127.0.0.1, port: 10120 }

    """

  private func withMachine(_ body: @escaping @Sendable (MachineAgent) async throws -> Void) async throws {
    try await withNetworkNamespace { loop, stage in
      let machine = try await BootedMachine.boot(try MachineLayer(), in: stage, on: loop)
      try await body(MachineAgent(machine: machine, loop: loop))
      try await machine.powerOff()
    }
  }
}

/// What is counted of a target that a false transition would change.
private struct CountedVerdict: Hashable {
  let status: String
  let since: JSON?
  let transitions: [Double]
}

extension MachineAgent {
  /// Installs a package as an administrator would who keeps the changed configuration. Returns what dpkg said.
  @discardableResult
  fileprivate func install(_ package: String) async throws -> String {
    let copied = try runProgram(["cp", package, "/proc/\(machine.leader)/root/root/reachd.deb"])
    guard copied.isSuccess else { throw MachineFailure(description: copied.output) }
    let ended = try await machine.run(
      ["dpkg", "--force-confold", "--install", "/root/reachd.deb"], within: .seconds(120))
    guard ended.isSuccess else { throw MachineFailure(description: "dpkg: \(ended.output)\(ended.errors)") }
    return ended.output + ended.errors
  }

  /// Waits until every target's status rests on evidence of this process.
  fileprivate func settle() async throws {
    _ = try await eventually("fresh evidence", on: loop) { () -> Bool? in
      let targets = try? await client.json("/api/v1/targets").elements
      guard let targets, targets.count == 2 else { return nil }
      return targets.allSatisfy { $0["stale"] == .boolean(false) && $0["status"]?.text != "Unknown" } ? true : nil
    }
  }

  fileprivate func verdicts() async throws -> [CountedVerdict] {
    let metrics = try await client.metrics()
    return try await client.json("/api/v1/targets").elements.map { target in
      let name = target["target"]?.text ?? ""
      return CountedVerdict(
        status: target["status"]?.text ?? "", since: target["since"],
        transitions: metrics.values("reachability_transitions_total", ["target": name]))
    }
  }

  fileprivate func expectNothingRuns() async throws {
    let units = try await machine.succeed("systemctl", "list-units", "--all", "--plain", "--no-legend", "reachd*")
    #expect(!units.contains("running") && !units.contains("listening"), "\(units)")
    let processes = try await machine.succeed("sh", "-c", "cat /proc/[0-9]*/comm 2>/dev/null || true")
    #expect(!processes.split(separator: "\n").contains("reachd"))
  }
}

/// The delivered package under another version, with a configuration that differs by a comment.
private final class RepackedPackage {
  let path: String
  private let folder: TestFolder

  init(version: String) throws {
    folder = try TestFolder()
    path = folder.path + "/reachd.deb"
    let tree = folder.path + "/tree"
    let script = """
      dpkg-deb --raw-extract "$1" "$2"
      sed -i "s/^Version: .*/Version: $3/" "$2/DEBIAN/control"
      echo "# A later version says this." >>"$2/etc/reachd/reachd.yaml"
      dpkg-deb --root-owner-group -Znone --build "$2" "$4"
      """
    let made = try runProgram(["bash", "-euc", script, "bash", DebianPackage.path, tree, version, path])
    guard made.isSuccess else { throw MachineFailure(description: made.output) }
  }
}
