import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// A resolver in trouble. It is not the target that is down for it, as long as its addresses are known and answer.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(4)))
struct ResolverTests {
  /// The names that go on being answered or stood in for, with what is said of the resolver meanwhile.
  private static let troubles = [
    ("servfail", "dns_servfail"), ("silent", "dns_timeout"), ("forged", "dns_timeout"), ("cut", "dns_truncated"),
    ("kept", "dns_servfail"),
  ]

  /// What the server does to a query, by the name's first label, while it is in trouble. The name `late` has its trouble
  /// while the others have none.
  private static func answer(_ query: FakeNameServer.Query, isTroubled: Bool) -> FakeNameServer.Action {
    let good = query.addresses([StageAddress.server])
    let label = query.name.prefix { $0 != "." }
    guard isTroubled != (label == "late") else { return .reply(good) }
    switch label {
    case "silent": return .silence
    case "half": return query.type == 28 ? .silence : .reply(good)
    case "forged": return .reply([good[0] ^ 1] + good.dropFirst())
    case "cut":
      return .reply(query.answer([], flags: Wire.Flags.recursionAvailable | Wire.Flags.truncated))
    case "gone": return .reply(query.answer([], code: 3))
    default: return .reply(query.answer([], code: 2))
    }
  }

  @Test("a resolver that fails, lies, falls silent, is killed and comes back: old addresses serve, and it is said")
  func troubles() async throws {
    try await withNetworkNamespace { loop, stage in
      let (_, server) = try stage.stageRouterAndServer()
      let open = try server.perform { () throws(SystemError) in try TestPort(.open, on: StageAddress.server) }
      // That a port is closed is said by ICMP, which the kernel does not send often unless told to.
      try server.set("ipv4/icmp_ratelimit", to: "0")
      let isTroubled = LoopConfined(false, on: loop)
      // Its TCP port refuses.
      func startServer(port: UInt16) throws -> FakeNameServer {
        try server.perform {
          try FakeNameServer(loop, on: StageAddress.server, port: port, listensToTCP: false) {
            Self.answer($0, isTroubled: isTroubled.withState { $0 })
          }
        }
      }
      var names: FakeNameServer? = try startServer(port: 0)
      let port = names?.port ?? 0
      let agent = try await RunningAgent.start(Self.configuration(open.number, names: port), on: loop)
      var late = try await StatusWatch(agent, "late", is: "NotReachable")
      #expect(agent.lines("status_initial", target: "late").first?["reason"] == .string("dns_servfail"))
      var gone = try await StatusWatch(agent, "gone")
      var others: [StatusWatch] = []
      for name in Self.troubles.map(\.0) + ["half", "path"] { others.append(try await StatusWatch(agent, name)) }

      isTroubled.withState { $0 = true }
      try await gone.expectDown("dns_nxdomain")
      try await late.expectUp("tcp_open")
      for (name, reason) in Self.troubles {
        let failures = ["target": name, "probe": "dns", "reason": reason]
        _ = try await agent.awaitMetrics("\(name) to fail twice by \(reason)") {
          $0.value("reachability_probe_failures_total", failures) ?? 0 >= 2
        }
        let target = try await agent.target(name)
        #expect(target?["status"] == .string("ReachableViaWiFi"), "\(name)")
        #expect(target?["reason"] == .string("tcp_open"), "\(name)")
        #expect(target?["addresses"]?[0]?["state"] == .string("reachable"), "\(name)")
      }
      // Where only the path speaks for an address, that it is an old one is the reason given.
      _ = try await agent.awaitMetrics("the path to be known to be an old one") {
        $0.value("reachability_reason_info", ["target": "path", "reason": "dns_stale"]) == 1
      }
      let answered = try await agent.client.metrics().runs(of: "dns", "success", target: "half")
      try await agent.awaitRuns(answered + 1, of: "dns", "success", target: "half")

      isTroubled.withState { $0 = false }
      try await gone.expectUp("tcp_open")
      try await Self.awaitResolution(agent)

      names?.stop()
      names = nil
      try await Self.awaitFailure("dns_unreachable", agent)
      names = try startServer(port: port)
      try await Self.awaitResolution(agent)
      for watch in [late, gone] + others { #expect(watch.unread.isEmpty, "\(watch.target)") }
      #expect(try await agent.stop() == 0)
      names?.stop()
      withExtendedLifetime(open) {}
    }
  }

  private static func configuration(_ port: UInt16, names: UInt16) -> String {
    let dns = "{ dns: { server: \"198.51.100.2:\(names)\", timeout: 600ms } }"
    var targets = (troubles.map(\.0) + ["half", "gone", "late"]).filter { $0 != "kept" }.map {
      "  - { name: \($0), host: \($0).reachd.test, port: \(port), probes: [link, route, \(dns), tcp] }\n"
    }
    // One whose answers are used again, within its own bounds.
    targets.append(
      """
        - name: kept
          host: kept.reachd.test
          port: \(port)
          resolve: { min: 500ms, max: 500ms }
          probes: [link, route, { dns: { server: "198.51.100.2:\(names)", timeout: 600ms, cache: true } }, tcp]
        - { name: path, host: path.reachd.test, probes: [link, route, \(dns)] }

      """)
    return "defaults: { interval: 1s, timeout: 950ms }\ntargets:\n" + targets.joined()
  }

  /// Waits until the last resolution of each name but `late` has gone well.
  private static func awaitResolution(_ agent: RunningAgent) async throws {
    _ = try await agent.awaitMetrics("every name to be resolved") { metrics in
      (troubles.map(\.0) + ["half", "gone", "path"]).allSatisfy {
        metrics.value("reachability_probe_success", ["target": $0, "probe": "dns"]) == 1
      }
    }
  }

  /// Waits until each name has failed for that reason.
  private static func awaitFailure(_ reason: String, _ agent: RunningAgent) async throws {
    _ = try await agent.awaitMetrics("every name to fail by \(reason)") { metrics in
      (troubles.map(\.0) + ["half", "gone", "path", "late"]).allSatisfy {
        let failures = ["target": $0, "probe": "dns", "reason": reason]
        return metrics.value("reachability_probe_failures_total", failures) ?? 0 >= 1
      }
    }
  }
}
