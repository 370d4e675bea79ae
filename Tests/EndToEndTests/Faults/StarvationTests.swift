import Glibc
import ReachCore
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// An agent that does not get to run.
@Suite(.timeLimit(.minutes(4)))
struct StarvationTests {
  @Test("an agent stopped in the middle of rounds calls nothing down for it, and first statuses come all the same")
  func stopped() async throws {
    try await withEventLoop { loop in
      let open = try TestPort(.open)
      let full = try TestPort(.full)
      let names = (0..<60).map { "\($0 % 2 == 0 ? "open" : "slow")\($0)" }
      let targets = names.map { name in
        let port = name.hasPrefix("open") ? open.number : full.number
        return "  - { name: \(name), address: 127.0.0.1, port: \(port) }\n"
      }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 2s, timeout: 1500ms }\ntargets:\n" + targets.joined(), on: loop)
      _ = try await eventually("connections that are under way", on: loop, state: { agent.process.errors }) {
        let sockets = try runProgram(["ss", "-Htn", "state", "syn-sent", "dport", "=", ":\(full.number)"])
        return sockets.output.split(separator: "\n").count >= 30 ? true : nil
      }
      agent.process.send(SIGSTOP)
      // Not a wait for something: this is how long the agent is kept from running.
      await loop.sleep(until: loop.now().advanced(by: .seconds(3)))
      // Room in the queue: whoever tries again is answered.
      _ = Glibc.listen(full.descriptor, 4096)
      agent.process.send(SIGCONT)
      for name in names { _ = try await StatusWatch(agent, name) }
      let before = try await agent.client.metrics()
      #expect(before.value("reachd_rounds_skipped_total") ?? 0 >= 30)
      // A round of each after that.
      let last = try await agent.awaitMetrics("a round of each") { metrics in
        names.allSatisfy { name in
          metrics.runs(of: "tcp", "success", target: name) > before.runs(of: "tcp", "success", target: name)
        }
      }
      #expect(agent.lines("status_changed").isEmpty)
      for name in names { #expect(last.runs(of: "tcp", "failure", target: name) <= 1) }
      #expect(try await agent.stop() == 0)
      withExtendedLifetime((open, full)) {}
    }
  }
}
