import Glibc
import ReachIO
import ReachTestSupport
import Testing

@testable import EndToEndTools

/// What the program needs: one thread, little memory, no Foundation.
@Suite(.serialized, .timeLimit(.minutes(4)))
struct FootprintTests {
  @Test("one thread probes names and ports, and ten targets take little memory")
  func threadAndMemory() async throws {
    try await withEventLoop { loop in
      let open = try TestPort(.open)
      let ports = (0..<5).map { "  - { name: port\($0), address: 127.0.0.1, port: \(open.number) }\n" }
      let names = (0..<5).map { "  - { name: name\($0), host: localhost, port: \(open.number) }\n" }
      let agent = try await RunningAgent.start(
        "defaults: { interval: 200ms, timeout: 150ms }\ntargets:\n" + (ports + names).joined(), on: loop)
      try await agent.awaitReady()
      // Several rounds of every target, and some scrapes.
      for round in 1...5 {
        _ = try await eventually("round \(round)", on: loop) { () -> Bool? in
          let runs = try await agent.client.metrics()
            .values("reachability_probe_runs_total", ["target": "port4", "probe": "tcp"]).reduce(0, +)
          return runs >= Double(round) ? true : nil
        }
      }
      let threads = try runProgram(["ls", "/proc/\(agent.process.processID)/task"]).output.split(separator: "\n")
      #expect(threads.count == 1)
      let resident = try #require(try agent.process.residentKibibytes)
      print("resident memory with 10 targets: \(resident) KiB")
      // The promise is 14 MiB for the release build; a debug build has unoptimised code and larger images.
      #expect(resident <= (isDebugBuild ? 28 : 14) * 1024)
      #expect(try await agent.stop() == 0)
    }
  }

  @Test("neither the program nor a plugin loads Foundation or lacks a library")
  func libraries() throws {
    for file in [Reachd.program, Reachd.folder + "/libReachKit.so"] + Reachd.plugins {
      let result = try runProgram(["/usr/bin/ldd", file])
      #expect(result.isSuccess, "\(result.output)")
      #expect(result.output.contains("libswiftCore.so"))
      #expect(!result.output.contains("Foundation"), "\(file)")
      #expect(!result.output.contains("not found"), "\(file): \(result.output)")
      if file != Reachd.folder + "/libReachKit.so" { #expect(result.output.contains("libReachKit.so"), "\(file)") }
    }
  }

  private var isDebugBuild: Bool {
    var isDebug = false
    assert({ isDebug = true }() == ())
    return isDebug
  }
}
