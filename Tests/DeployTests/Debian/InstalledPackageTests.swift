import Glibc
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The package in a Debian that has never seen a Swift toolchain, with no network but a loopback of its own.
@Suite(
  .enabled(if: DebianPackage.isAvailable, "\(DebianPackage.requirement)"),
  .enabled(if: PlainDebian.isAvailable, "\(PlainDebian.requirement)"), .timeLimit(.minutes(5)))
struct InstalledPackageTests {
  @Test("it runs without Swift: four backends, right verdicts, metrics, as a user without any right")
  func runs() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      #expect(try await debian.run("find", "/usr", "/opt", "-name", "libswift*").output == "")
      try await debian.install(DebianPackage.path)
      #expect(try await debian.succeed("dpkg", "--verify", "reachd") == "")
      let program = DebianPackage.version.prefix { $0 != "~" && $0 != "+" }
      #expect(try await debian.succeed("reachd", "--version").hasPrefix("reachd \(program) ("))
      #expect(try await debian.succeed("reachd", "check").contains("/etc/reachd/reachd.yaml is valid"))
      let plugins = try JSON(parsing: try await debian.succeed("reachd", "plugins", "--json")).elements
      #expect(plugins.compactMap { $0["name"]?.text }.sorted() == ["dns", "link", "route", "tcp"])
      #expect(plugins.allSatisfy { $0["file"]?.text?.hasPrefix("/usr/lib/reachd/plugins/") == true })

      let completion = try await debian.succeed("cat", "/usr/share/bash-completion/completions/reachd")
      #expect(try await debian.succeed("reachd", "completion", "bash") == completion)

      let open = try TestPort(.open)
      let closed = try TestPort(.closed)
      try debian.write(
        """
        defaults: { interval: 500ms, timeout: 400ms }
        targets:
          - default
          - { name: open, address: 127.0.0.1, port: \(open.number) }
          - { name: closed, address: 127.0.0.1, port: \(closed.number) }
          - { name: here, host: localhost }
        state_dir: /var/lib/reachd
        """, to: "/etc/reachd/reachd.yaml")
      // What the unit's StateDirectory= does.
      try await debian.succeed("install", "-d", "-o", "reachd", "-g", "reachd", "/var/lib/reachd")
      let user = ["setpriv", "--reuid=reachd", "--regid=reachd", "--clear-groups", "--bounding-set=-all"]
      let agent = try ChildProcess(
        debian.entering(user + ["reachd", "run", "--config", "/etc/reachd/reachd.yaml"]), on: loop)
      let client = HTTPClient(address: .loopback, port: 10120, loop: loop)
      try await eventually(
        "readiness", on: loop, state: { agent.failure("").description },
        {
          guard agent.isRunning else { throw agent.failure("ended") }
          return (try? await client.get("/-/ready"))?.status == 200 ? () : nil
        })
      let expected = [
        "default": "NotReachable", "open": "ReachableViaWiFi", "closed": "NotReachable", "here": "ReachableViaWiFi",
      ]
      for (name, status) in expected {
        try await eventually("\(name) to be \(status)", on: loop, state: { agent.errors }) {
          try await client.metrics().value("reachability_status", ["target": name, "status": status]) == 1 ? () : nil
        }
      }
      #expect(
        try await client.metrics().value("reachability_reason_info", ["target": "closed", "reason": "tcp_refused"]) == 1
      )
      agent.send(SIGTERM)
      #expect(try await agent.exitStatus() == 0)
      #expect(try await debian.succeed("stat", "--format=%U", "/var/lib/reachd/state.db") == "reachd\n")
      #expect(try await debian.run("reachd", "history").status == 0)
    }
  }

  @Test("a purge leaves nothing: no file, no folder, no user and no group")
  func purge() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      let before = try await debian.inventory()
      try await debian.install(DebianPackage.path)
      let user = try await debian.succeed("getent", "passwd", "reachd")
      #expect(user.contains(":/nonexistent:/usr/sbin/nologin"), "\(user)")
      // What the service and an operator leave behind.
      try await debian.succeed("install", "-d", "-o", "reachd", "/var/lib/reachd", "/var/log/reachd", "/run/reachd")
      try await debian.succeed("touch", "/var/lib/reachd/state.db", "/var/log/reachd/reachd.log")

      try await debian.succeed("dpkg", "--remove", "reachd")
      #expect(try await debian.run("test", "-e", "/usr/bin/reachd").status == 1)
      try await debian.succeed("test", "-e", "/etc/reachd/reachd.yaml")
      try await debian.succeed("test", "-e", "/var/lib/reachd/state.db")
      try await debian.succeed("dpkg", "--purge", "reachd")
      let after = try await debian.inventory()
      #expect(after.subtracting(before).sorted() == [] && before.subtracting(after).sorted() == [])
    }
  }

  @Test("a purge leaves what others have put into the folder of the configuration")
  func foreignFile() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      try await debian.install(DebianPackage.path)
      try debian.write("[]\n", to: "/etc/reachd/targets.json")
      try await debian.succeed("dpkg", "--purge", "reachd")
      #expect(try await debian.succeed("find", "/etc/reachd") == "/etc/reachd\n/etc/reachd/targets.json\n")
    }
  }

  @Test("a configuration that was changed is kept by a later version and by an earlier one")
  func changedConfiguration() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      let folder = try TestFolder()
      let later = try DebianPackage.repack(version: DebianPackage.version + "+later", in: folder)
      let mine = "targets: [default, 127.0.0.1]\n"
      try await debian.install(DebianPackage.path)
      try debian.write(mine, to: "/etc/reachd/reachd.yaml")
      for package in [later, DebianPackage.path] {
        try await debian.install(package)
        #expect(try await debian.succeed("cat", "/etc/reachd/reachd.yaml") == mine)
        #expect(try await debian.succeed("dpkg", "--verify", "reachd").hasSuffix(" c /etc/reachd/reachd.yaml\n"))
      }
      #expect(try await debian.succeed("dpkg-query", "--show", "reachd") == "reachd\t\(DebianPackage.version)\n")
    }
  }

  @Test("a configuration with a mistake does not fail an upgrade, which says where it is and what to do")
  func brokenConfiguration() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      let folder = try TestFolder()
      #expect(try await !debian.install(DebianPackage.path).contains("not valid"))
      try debian.write("targets:\n  - { name: db, prot: 5432 }\n", to: "/etc/reachd/reachd.yaml")
      let said = try await debian.install(
        DebianPackage.repack(version: DebianPackage.version + "+later", in: folder))
      #expect(said.contains("/etc/reachd/reachd.yaml:2:"), "\(said)")
      #expect(said.contains("then run: systemctl restart reachd"), "\(said)")
      #expect(
        try await debian.succeed("dpkg-query", "--show", "--showformat=${db:Status-Status}", "reachd") == "installed")
    }
  }

  @Test("what root can read and the agent cannot is a mistake of the configuration too")
  func unreadableFile() async throws {
    try await withNetworkNamespace { loop, _ in
      let debian = try await PlainDebian(on: loop)
      try await debian.install(DebianPackage.path)
      try await debian.succeed("chmod", "600", "/etc/reachd/reachd.yaml")
      let said = try await debian.install(DebianPackage.path)
      #expect(said.contains("not valid") && said.contains("/etc/reachd/reachd.yaml"), "\(said)")
    }
  }
}
