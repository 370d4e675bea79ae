import ReachCore
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// reachd.socket in a booted machine.
@Suite(.serialized, .enabled(if: MachineLayer.isAvailable, "\(MachineLayer.requirement)"))
struct SocketActivationTests {
  @Test(
    "with the socket unit no scrape is refused, and none is lost, while the service restarts", .timeLimit(.minutes(5)))
  func restart() async throws {
    try await withMachineAgent(
      "targets: [127.0.0.1]\n", furnish: { try $0.enable("reachd.socket", for: "sockets.target") },
      { agent, _ in
        #expect(try await agent.property("TriggeredBy") == "reachd.socket")
        #expect(try await agent.client.get("/-/healthy").status == 200)

        // Nobody serves now, and a client's connection waits for who comes next.
        try await agent.machine.succeed("systemctl", "stop", "reachd.service")
        let client = agent.client
        let waiting = try await client.get("/-/healthy", within: .seconds(60))
        #expect(waiting.status == 200)
        try await agent.awaitProperty("ActiveState") { $0 == "active" }

        for _ in 0..<3 {
          let before = try await agent.property("MainPID")
          try await agent.machine.succeed("systemctl", "--no-block", "restart", "reachd.service")
          var answers = 0
          while try await agent.property("MainPID") == before || answers == 0 {
            #expect(try await client.get("/metrics", within: .seconds(60)).status == 200)
            answers += 1
          }
        }
        let mode = try await agent.machine.succeed("stat", "--format=%U:%G %a %F", "/run/reachd/reachd.sock")
        #expect(mode == "reachd:reachd 660 socket\n")
      })
  }
}
