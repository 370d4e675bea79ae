import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// The agent as process 1 of a PID namespace, as it is in a container without an init.
@Suite(
  .enabled(if: NamespaceSupport.isAvailable, "\(NamespaceSupport.requirement)"), .timeLimit(.minutes(3)))
struct FirstProcessTests {
  /// Runs the words behind it as process 1. The shell before them leaves two children to what it becomes: one that has
  /// ended already, and one whose parent ends now, which makes it an orphan.
  private static let launcher =
    ["unshare", "--pid", "--fork", "--kill-child", "--mount-proc"]
    + ["sh", "-c", "true & (sleep 3141 & ); exec \"$@\"", "sh"]

  /// The namespace's first process, as this one sees it.
  private static func first(below process: Int32) throws -> Int32 {
    let text = try textOfFile("/proc/\(process)/task/\(process)/children")
    return try #require(text.split(separator: " ").first.flatMap { Int32($0) }, "\(text)")
  }

  /// The children of a process by their state, such as Z.
  private static func children(of process: Int32) throws -> [(id: Int32, state: String)] {
    let text = try textOfFile("/proc/\(process)/task/\(process)/children")
    return text.split(separator: " ").compactMap { Int32($0) }.compactMap { child in
      let status = (try? textOfFile("/proc/\(child)/status")) ?? ""
      let state = status.split(separator: "\n").first { $0.hasPrefix("State:") }
      return state.map { (child, String($0.dropFirst(7).prefix(1))) }
    }
  }

  private static func start(_ configuration: String = "targets: []\n", on loop: EventLoop) async throws -> RunningAgent
  {
    // The launcher sees to where the agent listens.
    return try await RunningAgent.start(
      configuration, options: ["--listen", "127.0.0.1:0"], launcher: launcher, on: loop)
  }

  @Test("orphans that are left to it are reaped, whenever they end")
  func orphans() async throws {
    try await withEventLoop { loop in
      let agent = try await Self.start(on: loop)
      let first = try Self.first(below: agent.process.processID)
      // The one that had ended is gone, the orphan runs.
      let left = try await eventually("one child", on: loop) {
        let children = try Self.children(of: first)
        return children.count == 1 ? children : nil
      }
      #expect(left[0].state != "Z")
      kill(left[0].id, SIGKILL)
      try await eventually("no child, and no zombie", on: loop) {
        try Self.children(of: first).isEmpty ? () : nil
      }
      #expect(try await agent.client.get("/-/healthy").status == 200)
      kill(first, SIGTERM)
      #expect(try await agent.process.exitStatus() == 0)
    }
  }

  @Test(
    "it stops for SIGTERM and for SIGINT, and reads its configuration again for SIGHUP", arguments: [SIGTERM, SIGINT])
  func signals(stop: Int32) async throws {
    try await withEventLoop { loop in
      let agent = try await Self.start(on: loop)
      let first = try Self.first(below: agent.process.processID)
      try agent.folder.write("targets: [127.0.0.1]\n", to: "reachd.yaml")
      kill(first, SIGHUP)
      _ = try await agent.awaitLine("status_initial", target: "127.0.0.1")
      kill(first, stop)
      #expect(try await agent.process.exitStatus() == 0)
      #expect(agent.lines("agent_stopping").count == 1)
    }
  }
}
