import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What an operator can get wrong in a drop-in: the agent says which setting it is, and blames no target for it.
@Suite(.serialized, .enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"))
struct RestrictionTests {
  private struct Restriction {
    /// Lines of the section [Service].
    let setting: String
    /// Lines of the configuration beside those that all have.
    var targets = ""
    /// The check that the agent makes.
    let check: String
    /// What its remedy names.
    let remedy: [String]
    /// A command that puts the machine into the state in question, and one that puts it back.
    var before: [String] = ["true"]
    var after: [String] = ["true"]
  }

  private static let restrictions = [
    Restriction(
      setting: "RestrictAddressFamilies=\nRestrictAddressFamilies=AF_INET AF_INET6 AF_UNIX", check: "netlink",
      remedy: ["AF_NETLINK", "RestrictAddressFamilies="]),
    Restriction(
      setting: "", targets: marked, check: "permission", remedy: ["AmbientCapabilities=", "CapabilityBoundingSet="]),
    Restriction(
      setting: "PrivateUsers=yes\nCapabilityBoundingSet=CAP_NET_ADMIN\nAmbientCapabilities=CAP_NET_ADMIN",
      targets: marked,
      check: "permission", remedy: ["PrivateUsers=no"]),
    Restriction(setting: "LimitNOFILE=32", check: "descriptors", remedy: ["LimitNOFILE="]),
    Restriction(setting: "StateDirectory=", check: "state", remedy: ["StateDirectory=reachd"]),
    Restriction(
      setting: "", targets: "  - { name: named, host: www.reachd.test }\n", check: "resolver",
      remedy: ["/etc/resolv.conf"], before: ["mv", "/etc/resolv.conf", "/etc/resolv.conf.off"],
      after: ["mv", "/etc/resolv.conf.off", "/etc/resolv.conf"]),
  ]

  private static let marked = "  - { name: marked, address: 192.0.2.1, port: 8080, source: { mark: 7 } }\n"

  @Test(
    "a setting that keeps the agent from its work is named, and no target is NotReachable for it",
    .timeLimit(.minutes(10)))
  func named() async throws {
    try await withMachineAgent(Self.configuration) { agent, stage in
      try MachineCable.plug(into: agent.machine, stage)
      let open = try TestPort(.open, on: MachineCable.peer, number: 8080)
      try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      for restriction in Self.restrictions {
        try await agent.machine.succeed(restriction.before)
        try agent.machine.write(Self.configuration + restriction.targets, to: "/etc/reachd/reachd.yaml")
        try await agent.restart(with: restriction.setting)
        let said = try await agent.awaitLine("self_check") { $0["check"]?.text == restriction.check }
        for word in restriction.remedy { #expect(said["remedy"]?.text?.contains(word) == true, "\(said)") }
        // It serves, and says that what it cannot see is unknown.
        _ = try await eventually("a first round", on: agent.loop) {
          try? await agent.client.get("/-/ready").status == 200 ? true : nil
        }
        for target in try await agent.client.json("/api/v1/targets").elements {
          #expect(target["status"]?.text != "NotReachable", "\(restriction.setting): \(target)")
        }
        try await agent.machine.succeed(restriction.after)
      }
      // Nothing of it stays.
      try agent.machine.write(Self.configuration, to: "/etc/reachd/reachd.yaml")
      try await agent.restart(with: "")
      try await agent.awaitStatus("ReachableViaWiFi", of: "service")
      #expect(try await agent.lines("self_check").isEmpty)
      withExtendedLifetime(open) {}
    }
  }

  @Test("a service that is given a network of its own says so", .timeLimit(.minutes(5)))
  func privateNetwork() async throws {
    try await withMachineAgent(Self.configuration) { agent, stage in
      try MachineCable.plug(into: agent.machine, stage)
      try await agent.restart(with: "PrivateNetwork=yes")
      let said = try await agent.awaitLine("self_check") { $0["check"]?.text == "network" }
      #expect(said["remedy"]?.text?.contains("PrivateNetwork=no") == true, "\(said)")
    }
  }

  private static let configuration = """
    defaults: { interval: 1s, timeout: 800ms }
    state_dir: /var/lib/reachd
    targets:
      - default
      - { name: service, address: 192.0.2.1, port: 8080 }

    """
}
